import { fstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPrivateFile, readPrivateFile, writePrivateFile } from '@waxwing/service/config';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-new-private-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Replaces each fsync with `act`, which receives the original function. */
async function watchSync(act: (file: FileHandle, sync: () => Promise<void>) => Promise<void>): Promise<void> {
  const anyFile = await open(folder);
  const FileHandlePrototype = Object.getPrototypeOf(anyFile) as FileHandle;
  await anyFile.close();
  const { sync } = FileHandlePrototype;
  vi.spyOn(FileHandlePrototype, 'sync').mockImplementation(async function (this: FileHandle) {
    await act(this, () => sync.call(this));
  });
}

describe('a new private file', () => {
  it.each([
    ['a new name', createPrivateFile, ['8 bytes of key', 'folder of key']],
    ['the name of an existing file', writePrivateFile, ['8 bytes of none', 'folder of key']],
  ])('is on disk before its directory entry, and both are closed (%s)', async (_what, write, expected) => {
    const synced: string[] = [];
    const handles: FileHandle[] = [];
    await watchSync(async (file, sync) => {
      await sync();
      handles.push(file);
      const facts = fstatSync(file.fd);
      const name = readdirSync(folder).includes('key') ? 'key' : 'none';
      synced.push(`${facts.isDirectory() ? 'folder' : `${facts.size} bytes`} of ${name}`);
    });
    await write(join(folder, 'key'), 'a secret');
    expect(synced).toEqual(expected);
    expect(handles.map(({ fd }) => fd)).toEqual([-1, -1]);
  });

  it('is removed after a failed write, which throws the cause', async () => {
    const handles: FileHandle[] = [];
    await watchSync(async (file) => {
      handles.push(file);
      throw new Error('no space left');
    });
    const path = join(folder, 'key');
    await expect(createPrivateFile(path, 'a secret')).rejects.toThrow('no space left');
    expect(readdirSync(folder)).toEqual([]);
    expect(handles.map(({ fd }) => fd)).toEqual([-1]);
    vi.restoreAllMocks();
    expect(await createPrivateFile(path, 'a secret')).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('a secret');
  });

  it.each([
    ['a new file', createPrivateFile],
    ['an existing file', writePrivateFile],
  ])(
    'causes the original error even if the file no longer exists at its removal (%s)',
    async (_what, write) => {
      await watchSync(async () => {
        for (const name of readdirSync(folder)) rmSync(join(folder, name));
        throw new Error('no space left');
      });
      await expect(write(join(folder, 'key'), 'a secret')).rejects.toThrow('no space left');
    },
  );
});

describe('the text of a private file', () => {
  it.each<[string, Buffer]>([
    ['UTF-8', Buffer.from('schlüssel')],
    ['UTF-8 with a byte-order mark', Buffer.from('\ufeffschlüssel')],
    ['UTF-16, as written by PowerShell', Buffer.from('\ufeffschlüssel', 'utf16le')],
    ['big-endian UTF-16', Buffer.from('\ufeffschlüssel', 'utf16le').swap16()],
  ])('is read from %s', async (_encoding, content) => {
    const path = join(folder, 'key');
    await writePrivateFile(path, content);
    expect(await readPrivateFile(path, 'a key')).toBe('schlüssel');
  });

  it.each([16 * 1024 * 1024 + 1, 600_000_000, 5_000_000_000])(
    'is not read from a file of %i bytes',
    async (size) => {
      const path = join(folder, 'huge');
      await writePrivateFile(path, '');
      truncateSync(path, size);
      await expect(readPrivateFile(path, 'a key')).rejects.toThrow(
        `The file ${path} (a key) is ${size} bytes, more than the maximum of 16 MiB: check its path.`,
      );
    },
  );
});
