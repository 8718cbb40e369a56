import { existsSync } from 'node:fs';
import { runServerCommand } from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { expect, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';

/** Every command that needs an existing database. */
const commands = [
  'users list',
  'users set ada@example.com --can-change-user-emails yes',
  'users set-password ada@example.com',
  'users rotate-key ada@example.com --yes',
  'users deactivate ada@example.com --yes',
  'users reactivate ada@example.com',
  'realm show',
  'realm settings',
  'realm set name Example',
  'push enable --relay https://relay.example',
  'push test --user ada@example.com',
  'push disable --yes',
  'push rotate-credentials',
  'push send --user ada@example.com --text hello',
  'queue list',
  'queue show 1',
  'queue retry 1',
  'queue drop 1 --yes',
  'db export',
].map((text) => [text]);

eachBackend((backend) => {
  async function run(url: string, words: string) {
    const [printed, said]: [string[], string[]] = [[], []];
    const status = await runServerCommand(words.split(' '), {
      environment: { SERVER_DATABASE: url, SERVER_UPLOADS: 'disk:/nowhere' },
      clock: Date.now,
      print: (text) => void printed.push(text),
      say: (text) => void said.push(text),
      ask: async () => undefined,
      readSecret: async () => new Secret('correct horse'),
    });
    return { status, stdout: printed.join('\n'), stderr: said.join('\n') };
  }

  it.each(commands)('%s refuses to create a database, and says what to do', async (text) => {
    const url = await backend.freshUrl();
    const { status, stdout, stderr } = await run(url, text);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/(?:There is no database file|The PostgreSQL database .* is empty)/);
    expect(stderr).toContain('SERVER_DATABASE, or the file with its settings in --env-file');
    if (backend.name === 'sqlite') expect(existsSync(url.slice('sqlite:'.length))).toBe(false);
  });

  it('push status reports the missing database in a separate check, also as JSON', async () => {
    const url = await backend.freshUrl();
    const { status, stdout, stderr } = await run(url, 'push status --json');
    expect([status, JSON.parse(stdout)]).toEqual([
      1,
      [
        {
          check: 'database',
          ok: false,
          cause: expect.stringMatching(/^(There is no database file|The PostgreSQL database ).*\.$/),
          remedy: expect.stringMatching(/^Name the database of the server in SERVER_DATABASE/),
        },
      ],
    ]);
    expect(stderr).toBe('waxwing-server: Push notifications do not work: see database.');
  });

  it.each([
    'users add --email ada',
    'users add --email ada@system.invalid',
    'users add --email ada@example.com --name Notification-Bot',
    'users add --email ada@example.com --owner bob@example.com',
    'users add --email ada@example.com --bot --owner bob@example.com',
  ])('the failing command %s leaves no database', async (text) => {
    const url = await backend.freshUrl();
    expect(await run(url, text)).toMatchObject({ status: 1, stdout: '' });
    const { stdout } = await run(url, 'db status');
    expect(stdout).toContain('Pending: jobs/0001-jobs');
    if (backend.name === 'sqlite') expect(existsSync(url.slice('sqlite:'.length))).toBe(false);
  });

  it('the first "users add" creates the database, and prints its name like each later change', async () => {
    const url = await backend.freshUrl();
    const { pathname } = new URL(url);
    const place = backend.name === 'sqlite' ? pathname : `"${pathname.slice(1)}" at 127.0.0.1`;
    const named = new RegExp(`^Database: .*${place}`, 'm');
    expect((await run(url, 'users add --email ada@example.com')).stdout).toMatch(named);
    expect((await run(url, 'users rotate-key ada@example.com --yes')).stdout).toMatch(named);
    expect((await run(url, 'users list')).stdout).not.toContain('Database:');
  });
});
