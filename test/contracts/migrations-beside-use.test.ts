import type { MigrationSet } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eachPostgres } from '../support/test-databases.js';
import { birdNames, birds, insertBird, openBirds } from './birds.js';

const next: MigrationSet = {
  unit: 'birds',
  migrations: {
    ...birds.migrations,
    '0002-next': {
      async up(db: Kysely<unknown>) {
        await sql`alter table birds add column colour text`.execute(db);
        await sql`alter table schedules add column colour text`.execute(db);
      },
    },
  },
};

const join = sql`select /* join */ birds.id from birds, schedules`;
type Birds = Awaited<ReturnType<typeof openBirds>>;

describe('a migration while processes of the previous version run', () => {
  eachPostgres((backend) => {
    async function begin(url: string, statement: string): Promise<pg.Client> {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      onTestFinished(() => client.end());
      // Later than the second of other sessions, so that PostgreSQL cancels the other session's statement.
      await client.query("set deadlock_timeout = '5s'");
      await client.query('begin');
      await client.query(statement);
      return client;
    }

    /** Resolves when a statement with this beginning waits for a table lock. */
    async function waits(url: string, statement = 'alter table'): Promise<void> {
      const observer = new pg.Client({ connectionString: url });
      await observer.connect();
      const count = async () => {
        const { rows } = await observer.query(
          `select count(*)::int as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
          [`${statement}%`],
        );
        return rows[0].count as number;
      };
      await expect.poll(count, { timeout: 10_000, interval: 20 }).toBe(1);
      await observer.end();
    }

    it('delays statements for seconds at most while a backup reads a table, and runs after the backup', async () => {
      const url = await backend.freshUrl();
      const previous = await openBirds(backend, url);
      const backup = await begin(url, 'select from birds');
      const opening = openBirds(backend, url, [next]);
      await waits(url);
      await insertBird(previous, 'tit');
      expect(await birdNames(previous)).toEqual(['tit']);
      await backup.query('commit');
      await opening;
      await insertBird(previous, 'wren');
      expect(await birdNames(previous)).toEqual(['tit', 'wren']);
    });

    it('is retried after a deadlock with another transaction', async () => {
      const url = await backend.freshUrl();
      await openBirds(backend, url);
      const other = await begin(url, 'lock table schedules in row exclusive mode');
      const opening = openBirds(backend, url, [next]);
      await waits(url);
      // The migration is the first to check for a deadlock.
      await other.query('select from birds');
      await other.query('commit');
      await expect(opening).resolves.toBeDefined();
    });

    it.each([
      ['a single statement', (database: Birds) => join.execute(database.db)],
      [
        'a snapshot',
        (database: Birds) =>
          database.readSnapshot(async (db) => {
            await db.selectFrom('birds').select('id').execute();
            return join.execute(db);
          }),
      ],
    ])('does not make %s fail with a deadlock', async (_, read) => {
      const url = await backend.freshUrl();
      const previous = await openBirds(backend, url);
      const migration = await begin(url, 'alter table schedules add column colour text');
      const reading = read(previous);
      await waits(url, 'select /* join */');
      // PostgreSQL cancels the read.
      await migration.query('alter table birds add column colour text');
      await migration.query('commit');
      expect((await reading).rows).toEqual([]);
    });

    it('does not make a write get lost if its commit runs a deferred trigger that deadlocks', async () => {
      const url = await backend.freshUrl();
      const database = await openBirds(backend, url);
      await insertBird(database, 'tit');
      await sql`create function see_tit() returns trigger language plpgsql as
        $$ begin update birds set seen = seen + 1 where name = 'tit'; return null; end $$`.execute(
        database.db,
      );
      await sql`create constraint trigger see_tit after insert on birds
        deferrable initially deferred for each row execute function see_tit()`.execute(database.db);
      const migration = await begin(url, `update birds set seen = 5 where name = 'tit'`);
      const writing = insertBird(database, 'wren');
      await waits(url, 'commit');
      // PostgreSQL cancels the commit.
      await migration.query('lock table birds in share mode');
      await migration.query('commit');
      await writing;
      expect(await birdNames(database)).toEqual(['tit', 'wren']);
    });
  });
});
