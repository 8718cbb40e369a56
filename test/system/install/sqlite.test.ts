import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../support/free-ports.js';
import { untilReady } from '../../support/until-ready.js';
import { linesMarked, root } from './installation.js';

let dir: string;
let shell: ChildProcess | undefined;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'waxwing-sqlite-'));
  chmodSync(dir, 0o700);
});
afterAll(async () => {
  if (shell?.exitCode === null) {
    const closed = once(shell, 'close');
    shell.stdin?.end();
    await closed;
  }
  rmSync(dir, { recursive: true, force: true });
});

it('the five lines of the installation page for SQLite start both programs on one machine', async () => {
  for (const name of ['relay', 'server'])
    symlinkSync(join(root, 'apps', name, `bin/waxwing-${name}.js`), join(dir, `waxwing-${name}`));
  const port = await freePort(2);
  const env = {
    PATH: `${dir}:${process.env.PATH}`,
    RELAY_PORT: String(port),
    SERVER_PORT: String(port + 1),
  };
  const lines = linesMarked('run by a test: sqlite');
  expect(lines.trim().split('\n').length).toBe(5);
  // The shell ends both programs when the shell's input ends.
  const script = `set -m; trap 'for job in $(jobs -p); do kill -- -$job; done; wait' EXIT\n${lines}\nread -r _ || true`;
  shell = spawn('bash', ['--norc', '-euc', script], { cwd: dir, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  }
  await untilReady(`http://127.0.0.1:${port}/health/live`, shell, () => output);
  await untilReady(`http://127.0.0.1:${port + 1}/health/ready`, shell, () => output);
  for (const file of ['relay.sqlite', 'server.sqlite', 'key-ring.age', 'recovery-key.txt'])
    expect(existsSync(join(dir, file)), file).toBe(true);
}, 300_000);
