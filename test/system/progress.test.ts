import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const hasScript = spawnSync('script', ['--version']).status === 0;

describe.runIf(hasScript)('a command that takes long', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waxwing-progress-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('says at a terminal that it is still at work, by its name', async () => {
    // An export that does not come: a pipe that nobody writes to yet.
    const pipe = join(folder, 'export');
    execFileSync('mkfifo', [pipe]);
    const typed = `${process.execPath} ${join(root, 'apps/relay/bin/waxwing-relay.js')} db import --file ${pipe}`;
    const env = { PATH: process.env.PATH, RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}` };
    const program = spawn('script', ['-qec', typed, '/dev/null'], { env });
    let shown = '';
    program.stdout.on('data', (bytes: Buffer) => {
      shown += bytes.toString();
    });
    while (!shown.includes('waxwing-relay db import is still at work …')) {
      await once(program.stdout, 'data');
    }
    const exited = once(program, 'exit');
    await (await open(pipe, 'w')).close();
    expect(await exited).toEqual([1, null]);
    expect(shown.match(/still at work/g)).toHaveLength(1);
  });
});
