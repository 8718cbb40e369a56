import type { DatabaseWithJobs } from '@waxwing/jobs';
import { columnTypes, type MigrationSet } from '@waxwing/storage';
import type { Kysely, Transaction } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';

interface Tables {
  notes: { text: string };
}

const notes: MigrationSet = {
  unit: 'notes',
  migrations: {
    '0001-notes': {
      up: (db: Kysely<unknown>) =>
        db.schema.createTable('notes').addColumn('text', columnTypes.text).execute(),
    },
  },
};

eachBackend((backend) => {
  let database: DatabaseWithJobs<Tables>;
  beforeEach(async () => {
    database = await backend.open<Tables>({ migrations: [notes], url: await backend.freshUrl() });
  });

  const add = (text: string) => database.write(({ db }) => db.insertInto('notes').values({ text }).execute());
  const read = async (db: Kysely<Tables>) => (await db.selectFrom('notes').selectAll().execute()).length;
  const snapshot = <Result>(work: (db: Transaction<Tables>) => Promise<Result>) =>
    database.db.transaction().setAccessMode('read only').setIsolationLevel('repeatable read').execute(work);

  describe('a snapshot', () => {
    it('does not change during other writes, which the next snapshot shows', async () => {
      const before = await snapshot(read);
      for (let round = 1; round <= 3; round++) {
        const during = await snapshot(async (db) => {
          const first = await read(db);
          await add('another');
          return [first, await read(db)];
        });
        expect(during).toEqual([before + round - 1, before + round - 1]);
        expect(await snapshot(read)).toBe(before + round);
      }
    });

    it('ends if its work fails, so that the next snapshot is current', async () => {
      const fail = () =>
        snapshot(async (db) => {
          await read(db);
          throw new Error('this work fails');
        });
      for (let round = 0; round < 5; round++) await expect(fail()).rejects.toThrow('this work fails');
      const before = await snapshot(read);
      await add('another');
      expect(await snapshot(read)).toBe(before + 1);
    });

    it('can be taken many times concurrently, and each snapshot is complete', async () => {
      const before = await snapshot(read);
      let arrived = 0;
      let open = (): void => {};
      const allOpen = new Promise<void>((resolve) => {
        open = resolve;
      });
      const all = Array.from({ length: 5 }, () =>
        snapshot(async (db) => {
          await read(db);
          arrived += 1;
          if (arrived === 5) open();
          await allOpen;
          return read(db);
        }),
      );
      await allOpen;
      await add('another');
      expect(await Promise.all(all)).toEqual(Array(5).fill(before));
      expect(await snapshot(read)).toBe(before + 1);
    });
  });
});
