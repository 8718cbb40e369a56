import { PassThrough, Readable, Transform, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { exportDatabase, importDatabase } from '@waxwing/administration';
import type { DatabaseWithJobs } from '@waxwing/jobs';
import { addIdColumn, columnTypes, isPostgres, type MigrationSet } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { idle } from '../support/idle.js';
import { eachBackend, eachPostgres, type TestBackend } from '../support/test-databases.js';

interface Tables {
  nests: { id: number; note: string | null; egg: Uint8Array | null };
  birds: { id: number; nest_id: number; name: string };
}

const start = 1_800_000_000_000;
const birds: MigrationSet = {
  unit: 'birds',
  migrations: {
    '0001-birds': {
      async up(db: Kysely<unknown>) {
        const bytes = isPostgres(db) ? 'bytea' : 'blob';
        await addIdColumn(db, db.schema.createTable('nests'))
          .addColumn('note', columnTypes.text)
          .addColumn('egg', bytes as 'blob')
          .execute();
        // In alphabetical order, `birds` would come before `nests`, which it references.
        await addIdColumn(db, db.schema.createTable('birds'))
          .addColumn('nest_id', columnTypes.integer, (column) => column.notNull().references('nests.id'))
          .addColumn('name', columnTypes.text, (column) => column.notNull())
          .execute();
      },
    },
  },
};
const migrations = [birds];

async function filled(backend: TestBackend): Promise<DatabaseWithJobs<Tables>> {
  const database = await backend.open<Tables>({ migrations, now: () => start });
  database.jobs.handle('dies', {
    concurrency: 1,
    run: async () => ({ kind: 'dead', reason: 'no' }),
    giveUp: () => async () => {},
  });
  database.jobs.handle('retries', {
    concurrency: 1,
    run: async () => ({ kind: 'retry', at: start + 70, reason: 'busy' }),
    giveUp: () => async () => {},
  });
  await database.write(async (transaction) => {
    const { db } = transaction;
    for (let index = 1; index <= 1200; index++) {
      await db
        .insertInto('nests')
        .values({ note: `'"\\\n🐦 ${index}`, egg: null } as never)
        .execute();
    }
    await db
      .insertInto('nests')
      .values({ note: null, egg: new Uint8Array([0, 255, 7]) } as never)
      .execute();
    await db
      .insertInto('birds')
      .values({ nest_id: 1201, name: 'waxwing' } as never)
      .execute();
    await db.deleteFrom('nests').where('id', '=', 1200).execute();
    for (const kind of ['dies', 'retries']) {
      await database.jobs.enqueue(transaction, { kind, payload: `{"of":"${kind}"}`, giveUpAt: start + 500 });
    }
    await database.jobs.enqueue(transaction, {
      kind: 'waits',
      payload: 'w',
      runAt: start + 90,
      giveUpAt: start + 500,
    });
  });
  await database.jobs.start();
  await idle(database.jobs);
  return database;
}

async function exported(database: DatabaseWithJobs<Tables>): Promise<string> {
  const output = new PassThrough();
  const reading = text(output);
  await exportDatabase(database, { migrations, output });
  output.end();
  return await reading;
}

async function moved(database: DatabaseWithJobs<Tables>, target: DatabaseWithJobs<Tables>) {
  return await importDatabase(target, { migrations, input: Readable.from([await exported(database)]) });
}

async function everythingIn(database: DatabaseWithJobs<Tables>) {
  const jobs = await database.jobs.list({ limit: 1000 });
  const shown = await Promise.all(jobs.map(({ id }) => database.jobs.show(id)));
  return {
    nests: (await database.db.selectFrom('nests').selectAll().orderBy('id').execute()).map((row) => ({
      ...row,
      egg: row.egg && [...row.egg],
    })),
    birds: await database.db.selectFrom('birds').selectAll().execute(),
    jobs: shown.map((job) => ({ ...job, id: '' })).sort((a, b) => ((a.kind ?? '') < (b.kind ?? '') ? -1 : 1)),
  };
}

describe('moving a database', () => {
  eachBackend((backend) => {
    it('copies all rows and jobs to an empty database', async () => {
      const source = await filled(backend);
      const target = await backend.open<Tables>({ migrations, now: () => start });
      expect(await moved(source, target)).toEqual({ rows: 1203, jobs: 2 });
      const arrived = await everythingIn(target);
      expect(arrived).toEqual(await everythingIn(source));
      expect(arrived.jobs).toMatchObject([
        { kind: 'dies', state: 'dead', reason: 'no', payload: '{"of":"dies"}' },
        { kind: 'retries', state: 'waiting', attempts: 1, reason: 'busy', at: start + 70 },
        { kind: 'waits', state: 'waiting', attempts: 0, at: start + 90, giveUpAt: start + 500 },
      ]);
    });

    it('exports a snapshot, which concurrent writes do not affect', async () => {
      const source = await filled(backend);
      const output = new PassThrough();
      const reading = text(output);
      let written: Promise<unknown> | undefined;
      output.once('data', () => {
        written = source.write(async (transaction) => {
          const { db } = transaction;
          await db
            .insertInto('nests')
            .values({ note: 'too late', egg: null } as never)
            .execute();
          await source.jobs.enqueue(transaction, { kind: 'waits', payload: 'too late', giveUpAt: start + 9 });
        });
      });
      const slowly = new Transform({
        transform: (chunk, _encoding, done) => void Promise.resolve(written).then(() => done(null, chunk)),
      });
      slowly.pipe(output);
      expect(await exportDatabase(source, { migrations, output: slowly })).toEqual({ rows: 1203, jobs: 2 });
      slowly.end();
      await written;
      expect(await reading).not.toContain('too late');
    });

    it('fails with the error of the output stream', async () => {
      const source = await filled(backend);
      // With a small buffer, the error occurs during backpressure. With a large buffer, it occurs while PostgreSQL
      // reads more rows.
      for (const highWaterMark of [10, backend.name === 'sqlite' ? 60_000 : 1_000_000_000]) {
        const full = new Writable({
          highWaterMark,
          write: (_chunk, _encoding, done) => void setImmediate(() => done(new Error('no space left'))),
        });
        full.on('error', () => undefined);
        await expect(exportDatabase(source, { migrations, output: full })).rejects.toThrow('no space left');
      }
    });

    it('continues the ids of the source database', async () => {
      const source = await filled(backend);
      await source.write(({ db }) => db.deleteFrom('birds').execute());
      const target = await backend.open<Tables>({ migrations });
      await moved(source, target);
      const id = await target.write(async ({ db }) => {
        const row = await db
          .insertInto('birds')
          .values({ nest_id: 1, name: 'b' } as never)
          .returning('id')
          .executeTakeFirstOrThrow();
        return row.id;
      });
      expect(id).toBe(2);
    });

    it('rejects a non-empty database, a damaged export, and an export from another version', async () => {
      const source = await filled(backend);
      const lines = await exported(source);
      const read = (target: DatabaseWithJobs<Tables>, input: string) =>
        importDatabase(target, { migrations, input: Readable.from([input]) });
      const target = await backend.open<Tables>({ migrations });
      await expect(read(source, lines)).rejects.toThrow('not empty');
      await expect(read(target, lines.slice(0, lines.lastIndexOf('{"end"')))).rejects.toThrow('truncated');
      await expect(read(target, lines.replace(/\{"table":"birds".*\n/, ''))).rejects.toThrow('truncated');
      const cut = lines.slice(0, 5000);
      await expect(read(target, `${cut}\n`)).rejects.toThrow(
        `damaged in line ${cut.split('\n').length}: nothing was imported`,
      );
      await expect(read(target, 'a\n')).rejects.toThrow('damaged in line 1:');
      await expect(read(target, lines.replace(/\n.*\n/, '\n[1]\n'))).rejects.toThrow('damaged in line 2:');
      await expect(read(target, lines.replace('0001-birds', '0000-birds'))).rejects.toThrow(
        'another version',
      );
      await expect(read(target, '{"end":{"rows":0,"jobs":0}}\n')).rejects.toThrow('not an exported database');
      expect(await everythingIn(target)).toEqual({ nests: [], birds: [], jobs: [] });
      await expect(read(target, lines)).resolves.toEqual({ rows: 1203, jobs: 2 });
    });
  });

  eachPostgres((postgres, sqlite) => {
    it('copies the rows of partitions once', async () => {
      const flocks = (up: (db: Kysely<unknown>) => Promise<void>): MigrationSet => ({
        unit: 'flocks',
        migrations: { '0001-flocks': { up } },
      });
      const parted = flocks(async (db) => {
        await sql`create table flocks (id bigint generated always as identity, name text, primary key (id))
          partition by hash (id)`.execute(db);
        await sql`create table flocks_0 partition of flocks for values with (modulus 2, remainder 0)`.execute(
          db,
        );
        await sql`create table flocks_1 partition of flocks for values with (modulus 2, remainder 1)`.execute(
          db,
        );
      });
      const whole = flocks((db) =>
        addIdColumn(db, db.schema.createTable('flocks')).addColumn('name', 'text').execute(),
      );
      type Flocks = { flocks: { id: number; name: string } };
      const source = await postgres.open<Flocks>({ migrations: [parted] });
      const add = (database: DatabaseWithJobs<Flocks>, name: string) =>
        database.write(({ db }) =>
          db
            .insertInto('flocks')
            .values({ name } as never)
            .execute(),
        );
      for (const name of ['a', 'b', 'c', 'd']) await add(source, name);
      for (const backend of [postgres, sqlite]) {
        const target = await backend.open<Flocks>({ migrations: [whole] });
        const output = new PassThrough();
        const reading = text(output);
        await exportDatabase(source, { migrations: [parted], output });
        output.end();
        const input = Readable.from([await reading]);
        expect(await importDatabase(target, { migrations: [whole], input })).toMatchObject({ rows: 4 });
        await add(target, 'e');
        const names = await target.db.selectFrom('flocks').select('name').orderBy('id').execute();
        expect(names.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
      }
    });

    it('starts ids at 1 for a SQLite table in which an insertion added no rows', async () => {
      const source = await sqlite.open<Tables>({ migrations });
      await source.write(({ db }) =>
        sql`insert into birds (nest_id, name) select id, 'b' from nests`.execute(db),
      );
      const target = await postgres.open<Tables>({ migrations });
      await moved(source, target);
      const { id } = await target.write(({ db }) =>
        db
          .insertInto('nests')
          .values({ note: 'first', egg: null } as never)
          .returning('id')
          .executeTakeFirstOrThrow(),
      );
      const { rows } = await target.write(({ db }) =>
        sql<{ id: number }>`insert into birds (nest_id, name) values (${id}, 'b') returning id`.execute(db),
      );
      expect(rows).toEqual([{ id: 1 }]);
    });

    it('copies all data from SQLite to PostgreSQL and back', async () => {
      const source = await filled(sqlite);
      const middle = await postgres.open<Tables>({ migrations, now: () => start });
      await moved(source, middle);
      const before = await everythingIn(source);
      expect(await everythingIn(middle)).toEqual(before);
      const back = await sqlite.open<Tables>({ migrations, now: () => start });
      await moved(middle, back);
      expect(await everythingIn(back)).toEqual(before);
      const done: unknown[] = [];
      for (const kind of ['waits', 'retries']) {
        middle.jobs.handle(kind, {
          concurrency: 1,
          run: async ({ payload, attempt }) => {
            done.push([kind, payload, attempt]);
            return { kind: 'done' };
          },
          giveUp: () => async () => {},
        });
      }
      await middle.jobs.start();
      for (const job of await middle.jobs.list({ state: 'waiting' })) await middle.jobs.retry(job.id);
      await idle(middle.jobs);
      expect(done.sort()).toEqual([
        ['retries', '{"of":"retries"}', 2],
        ['waits', 'w', 1],
      ]);
    });
  });
});
