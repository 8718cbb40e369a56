import type { MigrationSet } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eachBackend, eachPostgres } from '../support/test-databases.js';
import { type BirdTables, birdNames, birds, insertBird, openBirds } from './birds.js';

describe('migrations', () => {
  eachBackend((backend) => {
    it('run once, even if many processes start at the same time', async () => {
      const url = await backend.freshUrl();
      const role = 'visiting';
      const opened = await Promise.all(
        [0, 1, 2, 3].map(() => backend.open<BirdTables>({ url, role, migrations: [birds] })),
      );
      for (const [index, database] of opened.entries()) await insertBird(database, String(index));
      const [database] = opened;
      expect(database && (await birdNames(database))).toEqual(['0', '1', '2', '3']);
    });

    it('leave nothing behind if one fails, and the error names the failed step', async () => {
      const url = await backend.freshUrl();
      const broken: MigrationSet = {
        unit: 'birds',
        migrations: {
          ...birds.migrations,
          '0002-broken': {
            async up(db: Kysely<unknown>) {
              await db.schema.createTable('half').addColumn('a', 'text').execute();
              await sql`this is not sql`.execute(db);
            },
          },
        },
      };
      await expect(openBirds(backend, url, [broken])).rejects.toThrow('birds, step 0002-broken');
      const mended: MigrationSet = {
        unit: 'birds',
        migrations: {
          ...birds.migrations,
          '0002-mended': { up: (db) => db.schema.createTable('half').addColumn('a', 'text').execute() },
        },
      };
      await expect(openBirds(backend, url, [mended])).resolves.toBeDefined();
    });

    it('refuse a database from a newer version', async () => {
      const url = await backend.freshUrl();
      const newer: MigrationSet = {
        unit: 'birds',
        migrations: { ...birds.migrations, '0002-newer': { up: async () => {} } },
      };
      await (await openBirds(backend, url, [newer])).close();
      await expect(openBirds(backend, url)).rejects.toThrow(
        'was made by a newer version of this program (it contains birds step 0002-newer)',
      );
    });
  });
});

describe('a migration of large tables', () => {
  eachPostgres((backend) => {
    afterEach(() => {
      vi.useRealTimers();
    });

    it('has no statement timeout', async () => {
      const slow: MigrationSet = {
        unit: 'birds',
        migrations: {
          '0001-slow': {
            async up(db: Kysely<unknown>) {
              vi.useFakeTimers({ toFake: ['setTimeout'] });
              const sleeping =
                sql`select pg_sleep(0.3), current_setting('statement_timeout') as allowed`.execute(db);
              await vi.advanceTimersByTimeAsync(60 * 60_000);
              vi.useRealTimers();
              expect((await sleeping).rows).toMatchObject([{ allowed: '0' }]);
            },
          },
        },
      };
      await expect(openBirds(backend, undefined, [slow])).resolves.toBeDefined();
    });
  });
});
