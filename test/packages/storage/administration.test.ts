import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdministrationOptions, addDatabaseCommands, addQueueCommands } from '@waxwing/administration';
import { jobStates } from '@waxwing/jobs';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idle } from '../../support/idle.js';
import { eachBackend, type TestBackend } from '../../support/test-databases.js';

const now = 1_800_000_000_000;
const giveUpAt = now + 60_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-administration-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command on the database at `url`. `agrees` is the user's answer to prompts. */
async function run(url: string, argv: readonly string[], agrees = true) {
  const printed: string[] = [];
  const said: string[] = [];
  const asked: string[] = [];
  const options: AdministrationOptions = {
    databaseUrl: async () => url,
    isDatabaseChosen: () => true,
    remedyIfMissing: 'name it in TEST_DATABASE',
    migrations: async () => [],
    jobKinds: async () => ['dies', 'rests'],
    clock: () => now,
    print: (text) => void printed.push(text),
    say: (text) => void said.push(text),
    noteChange: () => undefined,
    async requireConsent(question, yes) {
      if (yes) return;
      asked.push(question);
      if (!agrees) throw new Error('Nothing was changed.');
    },
    refusal: (sentence) => new Error(sentence),
    shownPayloadFields: ['id', 'flags'],
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  addDatabaseCommands(program.command('db'), options);
  addQueueCommands(program.command('queue'), options);
  await program.parseAsync(argv, { from: 'user' });
  return { printed: printed.join('\n'), said: said.join('\n'), asked };
}

async function runJson(url: string, ...argv: string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await run(url, [...argv, '--json'])).printed) as Record<string, unknown>;
}

/** Creates a database with a pending job and a dead job, and no running server. */
async function withTwoJobs(backend: TestBackend): Promise<string> {
  const url = await backend.freshUrl();
  const database = await backend.open({ url, migrations: [], now: () => now });
  database.jobs.handle('dies', {
    concurrency: 1,
    run: async () => ({ kind: 'dead', reason: 'the relay refused it' }),
    giveUp: () => async () => {},
  });
  await database.write(async (transaction) => {
    const payload = JSON.stringify({
      id: 7,
      flags: ['a', true],
      content: { id: 8, text: 'a secret' },
      key: null,
    });
    await database.jobs.enqueue(transaction, { kind: 'dies', payload, giveUpAt });
    await database.jobs.enqueue(transaction, {
      kind: 'waits',
      payload: 'not JSON',
      runAt: now + 9,
      giveUpAt,
    });
  });
  await database.jobs.start();
  await idle(database.jobs);
  await database.close();
  return url;
}

interface Listed {
  readonly id: string;
  readonly kind: string;
}

async function list(url: string, ...flags: string[]): Promise<Listed[]> {
  const { jobs } = await runJson(url, 'queue', 'list', ...flags);
  return (jobs as Listed[]).filter(({ kind }) => !kind.startsWith('schedule/'));
}

async function idOf(url: string, wanted: string): Promise<string> {
  return (await list(url)).find(({ kind }) => kind === wanted)?.id ?? '';
}

describe('the database commands', () => {
  eachBackend((backend) => {
    it('print the pending migrations, apply them, and then find none', async () => {
      const url = await backend.freshUrl();
      expect(await runJson(url, 'db', 'status')).toMatchObject({
        backend: backend.name,
        pending: ['jobs/0001-jobs', 'jobs/0002-dead-jobs-by-kind', 'jobs/0003-one-lease-table'],
      });
      expect((await run(url, ['db', 'status'])).printed).toContain(
        'Pending: jobs/0001-jobs, jobs/0002-dead-jobs-by-kind, jobs/0003-one-lease-table.',
      );
      expect(await runJson(url, 'db', 'migrate')).toEqual({
        applied: ['jobs/0001-jobs', 'jobs/0002-dead-jobs-by-kind', 'jobs/0003-one-lease-table'],
      });
      expect(await runJson(url, 'db', 'migrate')).toEqual({ applied: [] });
      expect(await runJson(url, 'db', 'status')).toMatchObject({
        units: [
          {
            unit: 'jobs',
            done: ['0001-jobs', '0002-dead-jobs-by-kind', '0003-one-lease-table'],
            pending: [],
          },
        ],
        pending: [],
      });
    });

    it('distinguish a database from a newer version from a database that is up to date', async () => {
      const url = await backend.freshUrl();
      const database = await backend.open<{ jobs_migrations: { name: string; timestamp: string } }>({
        url,
        migrations: [],
      });
      await database.write(({ db }) =>
        db.insertInto('jobs_migrations').values({ name: '0099-newer', timestamp: '' }).execute(),
      );
      expect(await runJson(url, 'db', 'status')).toMatchObject({ pending: [], newer: ['jobs/0099-newer'] });
      expect((await run(url, ['db', 'status'])).printed).toBe(
        `${backend.name}: Made by a newer version of this program (it contains jobs/0099-newer): install that version.`,
      );
      await expect(run(url, ['db', 'migrate'])).rejects.toThrow('newer version');
    });

    it('move rows and jobs through a file that only the owner may read', async () => {
      const [from, to] = [await withTwoJobs(backend), await backend.freshUrl()];
      const file = join(folder, 'export.jsonl');
      const counts = await runJson(from, 'db', 'export', '--file', file);
      expect(counts).toEqual({ rows: expect.any(Number), jobs: 1 });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(await runJson(to, 'db', 'import', '--file', file)).toEqual(counts);
      const jobs = await list(to);
      expect(jobs.map(({ kind }) => kind)).toEqual(['dies', 'waits']);
    });

    it('refuse an existing file to write, a missing file to read, and a database that is not empty', async () => {
      const url = await withTwoJobs(backend);
      const file = join(folder, 'export.jsonl');
      await run(url, ['db', 'export', '--file', file]);
      const before = readFileSync(file, 'utf8');
      await expect(run(url, ['db', 'export', '--file', file])).rejects.toThrow(
        'it already exists; name a new one',
      );
      expect(readFileSync(file, 'utf8')).toBe(before);
      await expect(run(url, ['db', 'import', '--file', `${file}.none`])).rejects.toThrow('cannot be read');
      await expect(run(url, ['db', 'import', '--file', folder])).rejects.toThrow(
        /^The export could not be read, and nothing was imported: it is a folder; name a file\.$/,
      );
      await expect(run(url, ['db', 'import', '--file', file])).rejects.toThrow('is not empty');
      expect((await list(url)).map(({ kind }) => kind)).toEqual(['dies', 'waits']);
    });
  });
});

it('read-only commands create no SQLite file', async () => {
  const path = join(folder, 'mistyped', 'x.sqlite');
  const url = `sqlite:${path}`;
  const inFolder = `sqlite:${join(folder, 'none.sqlite')}`;
  expect((await run(inFolder, ['db', 'status'])).printed).toMatch(
    /^sqlite: There is no file .*none\.sqlite yet\. Pending: jobs\/0001-jobs/,
  );
  await expect(run(url, ['db', 'status'])).rejects.toThrow(
    /there is no folder .*mistyped: create it .* or correct/,
  );
  for (const command of ['queue list', 'queue show 1', 'queue retry 1', 'queue drop 1', 'db export']) {
    await expect(run(url, command.split(' '))).rejects.toThrow(`There is no database file ${path}`);
  }
  expect([existsSync(join(folder, 'mistyped')), existsSync(join(folder, 'none.sqlite'))]).toEqual([
    ...[false, false],
  ]);
});

it('read-only commands do not report a SQLite file as missing if they cannot access its folder', async () => {
  const path = join(folder, 'circle.sqlite');
  symlinkSync(path, path);
  await expect(run(`sqlite:${path}`, ['db', 'status'])).rejects.toThrow('ELOOP');
});

describe('the queue commands', () => {
  eachBackend((backend) => {
    it('list jobs by state and kind, up to the limit', async () => {
      const url = await withTwoJobs(backend);
      expect(await list(url, '--state', 'dead')).toEqual([
        expect.objectContaining({
          kind: 'dies',
          state: 'dead',
          reason: 'the relay refused it',
          created_at: new Date(now).toISOString(),
        }),
      ]);
      expect((await list(url, '--kind', 'waits')).map(({ kind }) => kind)).toEqual(['waits']);
      expect(await list(url, '--limit', '1')).toHaveLength(1);
      expect((await list(url, 'REFUSED it')).map(({ kind }) => kind)).toEqual(['dies']);
      expect((await list(url, 'wait', '--state', 'waiting')).map(({ kind }) => kind)).toEqual(['waits']);
      expect(await list(url, 'wait', '--state', 'dead')).toEqual([]);
      expect((await run(url, ['queue', 'list', '--limit', '1'])).said).toContain(
        'more than these 1: raise --limit',
      );
      expect((await run(url, ['queue', 'list'])).said).toBe('');
      for (const kind of ['rests', 'schedule/clean']) {
        const { printed } = await run(url, ['queue', 'list', '--kind', kind]);
        expect(printed).toBe('There are no such jobs.');
      }
      await expect(run(url, ['queue', 'list', '--kind', 'typo'])).rejects.toThrow(
        'There is no kind "typo": it is one of dies, rests, or schedule/ and a name.',
      );
      const { printed } = await run(url, ['queue', 'list']);
      expect(printed).toMatch(/^│ id +│ kind +│ state +│ attempts +│ at +│ last reason +│$/m);
      expect(printed).toMatch(/ dies +│ dead +│ 1 +│ 2027-01-15T08:00:00.000Z │ the relay refused it │$/m);
      await expect(run(url, ['queue', 'list', '--state', 'lost'])).rejects.toThrow('"lost"');
      for (const limit of ['0', '1e2']) {
        await expect(run(url, ['queue', 'list', '--limit', limit])).rejects.toThrow(`'${limit}' is invalid`);
      }
    });

    it('show only the parts of a payload that are known to contain no secret', async () => {
      const url = await withTwoJobs(backend);
      expect(await runJson(url, 'queue', 'show', await idOf(url, 'dies'))).toMatchObject({
        state: 'dead',
        attempts: 1,
        payload: {
          id: 7,
          flags: ['a', true],
          content: { id: 8, text: 'not shown (10 characters)' },
          key: null,
        },
      });
      const { printed } = await run(url, ['queue', 'show', await idOf(url, 'waits')]);
      expect(printed).toContain('not shown (8 characters)');
      expect(printed).not.toContain('not JSON');
    });

    it('retry a dead job', async () => {
      const url = await withTwoJobs(backend);
      const id = await idOf(url, 'dies');
      expect(await runJson(url, 'queue', 'retry', id)).toEqual({ id, retried: true });
      expect(await list(url, '--state', 'dead')).toEqual([]);
      expect((await list(url)).map(({ kind }) => kind).sort()).toEqual(['dies', 'waits']);
    });

    it('drop a job only after confirmation', async () => {
      const url = await withTwoJobs(backend);
      const id = await idOf(url, 'waits');
      await expect(run(url, ['queue', 'drop', id], false)).rejects.toThrow('Nothing was changed.');
      expect(await list(url)).toHaveLength(2);
      const { asked, printed } = await run(url, ['queue', 'drop', id]);
      expect(asked).toEqual([`The job ${id} (waits, waiting) will never run. Continue?`]);
      expect(printed).toBe(`The job ${id} is removed.`);
      const dead = await idOf(url, 'dies');
      expect(await runJson(url, 'queue', 'drop', dead, '--yes')).toEqual({ id: dead, dropped: true });
      expect(await list(url)).toEqual([]);
    });

    it.each(['5', 'nonsense', '5f7f3c9e-8a52-4b35-8d51-0d9a6b1d2c3e'])(
      'report that the job %s does not exist',
      async (id) => {
        const url = await withTwoJobs(backend);
        for (const action of ['show', 'retry', 'drop']) {
          await expect(run(url, ['queue', action, id])).rejects.toThrow(`There is no job ${id}`);
        }
      },
    );
  });
});

it('the list of jobs names every state in its help', () => {
  const queue = new Command();
  // The help uses no options.
  addQueueCommands(queue, {} as AdministrationOptions);
  const list = queue.commands.find((command) => command.name() === 'list');
  const described = list?.options.find(({ long }) => long === '--state')?.description;
  expect(described).toBe(`only jobs in this state: ${jobStates.join(', ')}`);
});
