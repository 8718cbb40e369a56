import { fstatSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { auditFile } from '#relay/keyring/storage/audit-log.js';
import { freshFolder, startedAt } from './ring-material.js';

const entry = {
  at: startedAt,
  actor: 'someone',
  action: 'rotate',
  phase: 'done',
  changes: ['a change'],
} as const;

afterEach(() => vi.restoreAllMocks());

it('the audit log only adds lines to its private file, even after a truncated line', async () => {
  const path = join(freshFolder(), 'deep', 'audit.jsonl');
  const log = auditFile(path);
  await log.append(entry);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const first = readFileSync(path, 'utf8');
  expect(JSON.parse(first)).toEqual({ ...entry, at: '2026-03-01T00:00:00.000Z' });
  await log.append(entry);
  expect(readFileSync(path, 'utf8')).toBe(`${first}${first}`);
  writeFileSync(path, `${first}{"at":"2026-`, { flag: 'w' });
  await log.append(entry);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines).toEqual([first.trimEnd(), '{"at":"2026-', first.trimEnd()]);
});

it('the audit log syncs each line to disk before it returns, and keeps no file open', async () => {
  const path = join(freshFolder(), 'audit.jsonl');
  const log = auditFile(path);
  await log.append(entry);
  const anyFile = await open(path);
  const FileHandlePrototype = Object.getPrototypeOf(anyFile) as FileHandle;
  await anyFile.close();
  const { sync } = FileHandlePrototype;
  const synced: number[] = [];
  const files: FileHandle[] = [];
  vi.spyOn(FileHandlePrototype, 'sync').mockImplementation(async function (this: FileHandle) {
    await sync.call(this);
    files.push(this);
    synced.push(fstatSync(this.fd).size);
  });
  await log.append(entry);
  expect(synced).toEqual([statSync(path).size]);
  // Closed file handles have the descriptor -1.
  expect(files.map(({ fd }) => fd)).toEqual([-1]);
});
