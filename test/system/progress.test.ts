import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eachPostgres } from '../support/test-databases.js';
import { hasEnded } from '../support/until-ready.js';

const root = join(import.meta.dirname, '../..');
const hasScript = spawnSync('script', ['--version']).status === 0;

const programs: ChildProcess[] = [];

/** Types a command into a pseudo-terminal. The terminal is closed after the test. */
function type(typed: string, env: NodeJS.ProcessEnv) {
  const program = spawn('script', ['-qec', typed, '/dev/null'], { env });
  programs.push(program);
  let text = '';
  program.stdout.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  const shown = (): string => text;
  return { program, shown, shows: (part: string) => expect.poll(shown).toContain(part) };
}

/** Closes the command's terminal, which ends the command. */
async function end(program: ChildProcess): Promise<void> {
  if (hasEnded(program)) return;
  const exited = once(program, 'exit');
  program.kill('SIGKILL');
  await exited;
}

describe.runIf(hasScript)('a command that takes long', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waxwing-progress-'));
  });
  afterEach(async () => {
    for (const program of programs.splice(0)) await end(program);
    rmSync(folder, { recursive: true, force: true });
  });

  it('reports its name and that it is still running, if at a terminal', async () => {
    // A pipe without a writer simulates an export that never arrives.
    const pipe = join(folder, 'export');
    execFileSync('mkfifo', [pipe]);
    const typed = `${process.execPath} ${join(root, 'apps/relay/bin/waxwing-relay.js')} db import --file ${pipe}`;
    const env = { PATH: process.env.PATH, RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}` };
    const { program, shown, shows } = type(typed, env);
    await shows('waxwing-relay db import is still running …');
    const exited = once(program, 'exit');
    await (await open(pipe, 'w')).close();
    expect(await exited).toEqual([1, null]);
    expect(shown().match(/still running/g)).toHaveLength(1);
  });

  eachPostgres((backend) => {
    it('reports that a server is still starting while the server waits for its tables', async () => {
      const url = await backend.freshUrl();
      const { db } = await backend.open<unknown>({ migrations: [], url });
      const typed = `exec ${process.execPath} ${join(root, 'apps/server/bin/waxwing-server.js')} serve`;
      const env = { PATH: process.env.PATH, SERVER_DATABASE: url, SERVER_PORT: '0' };
      const { program, shown, shows } = type(typed, { ...env, SERVER_UPLOADS: `disk:${folder}` });
      await db.transaction().execute(async (transaction) => {
        await sql`lock table jobs_migrations in access exclusive mode`.execute(transaction);
        await shows('waxwing-server serve is still starting …');
      });
      await shows('"ready"');
      const exited = once(program, 'exit');
      // Ctrl-C, as a terminal sends it.
      program.stdin.write('\u0003');
      await exited;
      expect(shown().match(/still starting/g)).toHaveLength(1);
    });
  });
});
