import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { auditFile } from '../../../../apps/relay/src/keyring/audit-log.js';
import { freshFolder, startedAt } from './ring-material.js';

const entry = {
  at: startedAt,
  actor: 'someone',
  action: 'rotate',
  phase: 'done',
  changes: ['a change'],
} as const;

it('adds lines to a private file and never takes any away, also after a line that was cut off', async () => {
  const path = join(freshFolder(), 'deep', 'audit.jsonl');
  const log = auditFile(path);
  await log.append(entry);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const first = readFileSync(path, 'utf8');
  expect(JSON.parse(first)).toEqual({ ...entry, at: '2026-03-01T00:00:00.000Z' });
  writeFileSync(path, `${first}{"at":"2026-`, { flag: 'w' });
  await log.append(entry);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines).toEqual([first.trimEnd(), '{"at":"2026-', first.trimEnd()]);
});
