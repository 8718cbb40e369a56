import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { readServerEnvironment } from '@waxwing/server';
import { ConfigurationError, Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDiskFileStore } from '#server/content/uploads/file-store/disk-file-store.js';
import type { FileStore } from '#server/content/uploads/file-store/file-store.js';
import { openFileStore } from '#server/content/uploads/file-store/open-file-store.js';
import { openS3FileStore } from '#server/content/uploads/file-store/s3-file-store.js';
import { S3StandIn } from '../support/s3-stand-in.js';

interface StoreUnderTest {
  readonly store: FileStore;
  /** All stored content, including parts of unfinished files. */
  kept(): string[];
  close(): Promise<void>;
}

const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-uploads-'));
  folders.push(folder);
  return folder;
}

async function onDisk(): Promise<StoreUnderTest> {
  const root = join(newFolder(), 'uploads');
  const store = await openDiskFileStore(root);
  const kept = () =>
    readdirSync(root, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [entry.name] : [],
    );
  return { store, kept, close: async () => undefined };
}

async function onS3(): Promise<StoreUnderTest> {
  const standIn = await S3StandIn.start();
  const store = openS3FileStore({
    bucket: 'files',
    region: 'eu-central-1',
    endpoint: standIn.url,
    accessKeyId: 'waxwing',
    secretKey: new Secret('a secret key'),
  });
  const kept = () => [...standIn.objects.keys(), ...standIn.unfinished.keys()];
  return { store, kept, close: () => standIn.close() };
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

let files = 0;
const newPath = (name = 'a.png') => `1/ab/${String(++files).padStart(24, 'x')}/${name}`;
const large = Buffer.alloc(12 * 1024 * 1024, 'many bytes');

describe.each([
  ['on disk', onDisk],
  ['on S3', onS3],
])('a file store %s', (_name, open) => {
  let test: StoreUnderTest;
  beforeAll(async () => {
    test = await open();
  });
  afterAll(() => test.close());

  async function read(path: string, range?: { start: number; end: number }): Promise<Buffer | undefined> {
    const content = await test.store.read(path, range);
    return content && buffer(content);
  }

  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['a small file', Buffer.from('little')],
    ['a file of several pieces', large],
  ])('returns %s unchanged', async (_size, content) => {
    const path = newPath('naïve-名.png');
    await test.store.write(path, Readable.from(content.length === 0 ? [] : [content]), 'image/png');
    expect((await read(path))?.equals(content)).toBe(true);
  });

  it('returns a byte range, including its last byte', async () => {
    const path = newPath();
    await test.store.write(path, Readable.from([Buffer.from('0123456789')]), 'text/plain');
    expect(String(await read(path, { start: 2, end: 4 }))).toBe('234');
    expect(String(await read(path, { start: 9, end: 9 }))).toBe('9');
  });

  it('returns nothing for an unknown file', async () => {
    expect(await read(newPath())).toBeUndefined();
  });

  it.each([
    ['early', Buffer.from('little')],
    ['after many bytes', large],
  ])('keeps nothing of an upload that breaks off %s', async (_when, content) => {
    const path = newPath();
    const before = test.kept();
    const broken = Readable.from(
      (async function* () {
        yield content;
        throw new Error('the connection was lost');
      })(),
    );
    await expect(test.store.write(path, broken, 'image/png')).rejects.toThrow('the connection was lost');
    expect(broken.destroyed).toBe(true);
    expect(await read(path)).toBeUndefined();
    expect(test.kept()).toEqual(before);
  });

  it('removes a file, and ignores a missing file', async () => {
    const path = newPath();
    await test.store.write(path, Readable.from([Buffer.from('x')]), 'image/png');
    await test.store.remove(path);
    await test.store.remove(path);
    expect(await read(path)).toBeUndefined();
  });
});

describe('a file store on disk', () => {
  it('is accessible only to its owner', async () => {
    const root = join(newFolder(), 'uploads');
    const store = await openDiskFileStore(root);
    await store.write('1/ab/random/a.png', Readable.from([Buffer.from('x')]), 'image/png');
    const modes = ['', '1', '1/ab', '1/ab/random', '1/ab/random/a.png'].map(
      (path) => statSync(join(root, path)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o700, 0o600]);
  });

  it('rejects a folder that others may read', async () => {
    const root = newFolder();
    chmodSync(root, 0o755);
    const opened = openDiskFileStore(root);
    await expect(opened).rejects.toThrow(ConfigurationError);
    await expect(opened).rejects.toThrow('chmod 700');
  });

  it('requires SERVER_UPLOADS for a server on PostgreSQL', async () => {
    const { uploads } = readServerEnvironment({ SERVER_DATABASE: 'postgres://db' });
    await expect(openFileStore(uploads)).rejects.toThrow('SERVER_UPLOADS is not set');
  });

  it('rejects a path where no folder can be created', async () => {
    await expect(openDiskFileStore('/dev/null/uploads')).rejects.toThrow('SERVER_UPLOADS');
  });
});
