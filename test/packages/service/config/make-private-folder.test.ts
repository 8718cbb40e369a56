import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePrivateFolder } from '@waxwing/service/config';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-folders-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('a private folder', () => {
  it('is created with its parents, each with mode 0700', () => {
    makePrivateFolder(join(folder, 'a', 'b', 'c'));
    for (const path of ['a', 'a/b', 'a/b/c']) expect(modeOf(join(folder, path))).toBe(0o700);
  });

  it('is not changed if it exists, even through a symbolic link', () => {
    const there = join(folder, 'there');
    mkdirSync(there, { mode: 0o750 });
    symlinkSync(there, join(folder, 'link'));
    makePrivateFolder(there);
    makePrivateFolder(join(folder, 'link'));
    makePrivateFolder('/');
    expect(modeOf(there)).toBe(0o750);
  });

  it('cannot be created if a file is in the way', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(() => makePrivateFolder(file)).toThrow('EEXIST');
    expect(() => makePrivateFolder(join(file, 'x', 'y'))).toThrow('ENOTDIR');
  });

  it.skipIf(process.platform !== 'linux')('is rejected immediately if no folders can be created', () => {
    expect(() => makePrivateFolder('/proc/x/y/z')).toThrow(
      'The folder /proc/x cannot be created: no folders can be created in /proc; use another location.',
    );
  });
});
