import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

it('a test that passes only when it is repeated is named at the end of the run, with its first error', () => {
  const root = mkdtempSync(join(tmpdir(), 'waxwing-retried-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const lines = [
    'let tries = 0;',
    "it('is steady', () => {});",
    "it('is flaky', () => { tries += 1; expect(tries).toBe(2); });",
  ];
  writeFileSync(join(root, 'some.test.mjs'), lines.join('\n'));
  const run = (...retry: string[]) =>
    spawnSync(
      process.execPath,
      [
        ...[resolve('node_modules/vitest/vitest.mjs'), 'run', '--root', root, '--globals', ...retry],
        ...['--reporter', resolve('test/support/retried-tests.ts')],
      ],
      { encoding: 'utf8', env: { PATH: process.env.PATH } },
    );
  const { status, stderr } = run('--retry', '1');
  expect([status, stderr]).toEqual([0, expect.stringContaining('RETRIED TESTS: 1 failed at first')]);
  expect(stderr).toContain('some.test.mjs > is flaky');
  expect(stderr).toContain('expected 1 to be 2');
  expect(stderr).not.toContain('is steady');
  const unrepeated = run();
  expect([unrepeated.status, unrepeated.stderr]).toEqual([1, expect.not.stringContaining('RETRIED TESTS')]);
});
