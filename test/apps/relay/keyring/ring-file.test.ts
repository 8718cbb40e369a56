import {
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigurationError, writePrivateFile } from '@waxwing/service/config';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { rotate } from '#relay/keyring/ring/key-ring-transitions.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { freshFolder, policy, type RingOnDisk, ringOnDisk, sodium, startedAt } from './ring-material.js';

const change = { actor: 'test', action: 'rotate' };

function rotateOnce({ keeper }: RingOnDisk) {
  const makeKeyPair = () => sodium.generateKeyPair();
  return keeper.change((ring) => rotate(ring, { now: startedAt, policy, makeKeyPair }), change);
}

describe('a ring file with another name', () => {
  it('is rejected if its path is a symbolic link, whose target would keep destroyed keys', async () => {
    const disk = await ringOnDisk();
    const target = join(disk.folder, 'target.age');
    renameSync(disk.path, target);
    symlinkSync(target, disk.path);
    const before = readFileSync(target);
    for (const attempt of [() => disk.keeper.read(), () => rotateOnce(disk)]) {
      await expect(attempt()).rejects.toThrow(ConfigurationError);
      await expect(attempt()).rejects.toThrow(
        'is a symbolic link: set RELAY_KEY_RING to the path of its target',
      );
    }
    expect(lstatSync(disk.path).isSymbolicLink()).toBe(true);
    expect(readFileSync(target)).toEqual(before);
  });

  it('is not created through a dangling symbolic link', async () => {
    const disk = await ringOnDisk();
    renameSync(disk.path, join(disk.folder, 'away'));
    symlinkSync(join(disk.folder, 'nowhere'), disk.path);
    await expect(disk.keeper.create(newKeyRing(sodium, startedAt), 'test')).rejects.toThrow(
      'is a symbolic link',
    );
    expect(lstatSync(disk.path).isSymbolicLink()).toBe(true);
  });

  it('is rejected while it has a second hard link', async () => {
    const disk = await ringOnDisk();
    const other = join(disk.folder, 'other');
    linkSync(disk.path, other);
    await expect(rotateOnce(disk)).rejects.toThrow('has 2 names (hard links): remove the others');
    expect(readFileSync(other)).toEqual(readFileSync(disk.path));
    renameSync(other, `${other}.moved`);
    await expect(disk.keeper.read()).rejects.toThrow('hard links');
    const { unlinkSync } = await import('node:fs');
    unlinkSync(`${other}.moved`);
    await rotateOnce(disk);
  });
});

describe('a change of the ring', () => {
  afterEach(() => vi.restoreAllMocks());

  it('removes only the files of an interrupted change', async () => {
    const disk = await ringOnDisk();
    const leftover = `${disk.path}.0123456789ab.new`;
    const others = [
      'ring.age.new',
      'ring.age.backup.new',
      'other.0123456789ab.new',
      'ring.age.0123456789ab.news',
    ];
    for (const name of [leftover, ...others.map((each) => join(disk.folder, each))]) writeFileSync(name, 'x');
    await rotateOnce(disk);
    expect(existsSync(leftover)).toBe(false);
    expect(readdirSync(disk.folder)).toEqual(expect.arrayContaining(others));
  });

  it('syncs the new file before it replaces the old file, and then the folder', async () => {
    const path = join(freshFolder(), 'ring.age');
    await writePrivateFile(path, 'old');
    const anyFile = await open(path);
    const FileHandlePrototype = Object.getPrototypeOf(anyFile) as FileHandle;
    await anyFile.close();
    const { sync } = FileHandlePrototype;
    const old = statSync(path).ino;
    const folder = statSync(dirname(path)).ino;
    const synced: { what: string; content: string; replaced: boolean }[] = [];
    const handles: FileHandle[] = [];
    vi.spyOn(FileHandlePrototype, 'sync').mockImplementation(async function (this: FileHandle) {
      handles.push(this);
      await sync.call(this);
      const { ino, size } = fstatSync(this.fd);
      const what = ino === folder ? 'folder' : 'file';
      const content = what === 'file' ? `${size} bytes` : '';
      synced.push({ what, content, replaced: statSync(path).ino !== old });
    });
    await writePrivateFile(path, 'the new ring');
    expect(synced).toEqual([
      { what: 'file', content: '12 bytes', replaced: false },
      { what: 'folder', content: '', replaced: true },
    ]);
    // Closed file handles have the descriptor -1.
    expect(handles.map(({ fd }) => fd)).toEqual([-1, -1]);
    expect(readFileSync(path, 'utf8')).toBe('the new ring');
  });

  it('keeps the old ring and leaves no file behind if the write fails', async () => {
    const disk = await ringOnDisk();
    const before = readFileSync(disk.path);
    const anyFile = await open(disk.path);
    const FileHandlePrototype = Object.getPrototypeOf(anyFile) as FileHandle;
    await anyFile.close();
    const { sync } = FileHandlePrototype;
    vi.spyOn(FileHandlePrototype, 'sync').mockImplementation(async function (this: FileHandle) {
      // Only the sync of the ring fails, not the sync of the audit log.
      if (fstatSync(this.fd).ino !== statSync(disk.auditPath).ino) throw new Error('no space left');
      await sync.call(this);
    });
    await expect(rotateOnce(disk)).rejects.toThrow('no space left');
    expect(readFileSync(disk.path)).toEqual(before);
    expect(readdirSync(disk.folder).filter((name) => name.endsWith('.new'))).toEqual([]);
  });
});
