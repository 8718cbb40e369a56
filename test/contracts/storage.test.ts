import type { DatabaseWithJobs } from '@waxwing/jobs';
import { sql } from 'kysely';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eachBackend, eachPostgres } from '../support/test-databases.js';
import { type BirdTables, birdNames, birds, insertBird, openBirds } from './birds.js';

describe('a write', () => {
  eachBackend((backend) => {
    it('resolves to its result once other connections can read the rows', async () => {
      const database = await openBirds(backend);
      const id = await insertBird(database, 'waxwing');
      expect(await database.db.selectFrom('birds').selectAll().execute()).toEqual([
        { id, name: 'waxwing', seen: 1 },
      ]);
    });

    it('commits a single statement, and leaves no rows behind if the statement fails', async () => {
      const database = await openBirds(backend);
      const add = (...names: readonly string[]) => {
        const values = names.map((name) => ({ name, seen: 1 }) as never);
        return database.writeStatement((db) =>
          db.insertInto('birds').values(values).returning('name').execute(),
        );
      };
      expect(await add('a')).toEqual([{ name: 'a' }]);
      await expect(add('b', 'a')).rejects.toThrow(/unique/i);
      expect(await birdNames(database)).toEqual(['a']);
    });

    it('with writeSingle has its own commit, and does not delay short writes on PostgreSQL', async () => {
      const database = await openBirds(backend);
      const short = () => insertBird(database, 'short');
      let finish = (): void => undefined;
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      let begin = (): void => undefined;
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const long = database.writeSingle(async ({ db }) => {
        await db
          .insertInto('birds')
          .values({ name: 'long', seen: 1 } as never)
          .execute();
        begin();
        await finished;
        return 'done';
      });
      // Starts at the same time as the long write. If long writes were batched, both would be in one commit.
      const beside = insertBird(database, 'beside');
      await begun;
      if (backend.name === 'postgres') {
        await Promise.all([beside, short()]);
        expect(await birdNames(database)).toEqual(['beside', 'short']);
        finish();
        expect(await long).toEqual({ result: 'done', fileLockedMilliseconds: undefined });
      } else {
        const waiting = short();
        finish();
        const { result, fileLockedMilliseconds } = await long;
        expect([result, fileLockedMilliseconds]).toEqual(['done', expect.any(Number)]);
        expect(fileLockedMilliseconds).toBeGreaterThan(0);
        await Promise.all([beside, waiting]);
      }
      expect(await birdNames(database)).toEqual(['beside', 'long', 'short']);
    });

    it('with writeSingle leaves no rows behind if it fails, and later writes are committed', async () => {
      const database = await openBirds(backend);
      const failing = database.writeSingle(async ({ db }) => {
        await db
          .insertInto('birds')
          .values({ name: 'lost', seen: 1 } as never)
          .execute();
        throw new Error('refused');
      });
      const next = database.writeSingle(({ db }) =>
        db
          .insertInto('birds')
          .values({ name: 'kept', seen: 1 } as never)
          .execute(),
      );
      await expect(failing).rejects.toThrow('refused');
      await next;
      expect(await birdNames(database)).toEqual(['kept']);
    });

    it('fails without affecting other writes in its batch, and leaves no rows behind', async () => {
      const database = await openBirds(backend);
      const writes = Array.from({ length: 50 }, (_, index) =>
        database.write(async ({ db }) => {
          const name = String(index).padStart(2, '0');
          await db
            .insertInto('birds')
            .values({ name, seen: index } as never)
            .execute();
          if (index % 10 === 3) throw new Error(`refused ${name}`);
          return name;
        }),
      );
      const results = await Promise.allSettled(writes);
      const refused = results.flatMap((result) =>
        result.status === 'rejected' ? [result.reason.message] : [],
      );
      expect(refused).toEqual(['refused 03', 'refused 13', 'refused 23', 'refused 33', 'refused 43']);
      const expected = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(await birdNames(database)).toEqual(expected);
    });

    it('rejects with the error of the constraint that it violates, even in a batch with other writes', async () => {
      const database = await openBirds(backend);
      const results = await Promise.allSettled(
        ['a', 'b', 'a', 'c'].map((name) => insertBird(database, name)),
      );
      expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
      expect(await birdNames(database)).toEqual(['a', 'b', 'c']);
    });

    it('runs its afterCommit callbacks after the commit, and never after a rollback', async () => {
      const database = await openBirds(backend);
      const followed: string[] = [];
      const write = (name: string, fails: boolean) =>
        database.write(async (transaction) => {
          transaction.afterCommit(() => followed.push(name));
          transaction.beforeCommit(async () => {
            if (fails) throw new Error('not now');
          });
          await transaction.db
            .insertInto('birds')
            .values({ name, seen: 0 } as never)
            .execute();
        });
      const results = await Promise.allSettled([write('a', false), write('b', true), write('c', false)]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect([followed.sort(), await birdNames(database)]).toEqual([
        ['a', 'c'],
        ['a', 'c'],
      ]);
    });

    it('succeeds even if its afterCommit callback throws, and the error is reported', async () => {
      const errors: unknown[] = [];
      const database = await backend.open<BirdTables>({
        migrations: [birds],
        onJobError: (error) => errors.push(error),
      });
      const following = database.write(async (transaction) => {
        transaction.afterCommit(() => {
          throw new Error('afterwards');
        });
      });
      await Promise.all([following, insertBird(database, 'a')]);
      expect([errors, await birdNames(database)]).toEqual([[new Error('afterwards')], ['a']]);
    });

    it('lets other connections read the last committed state until the commit', async () => {
      const database = await openBirds(backend);
      await insertBird(database, 'before');
      const seen = await database.write(async ({ db }) => {
        await db
          .insertInto('birds')
          .values({ name: 'during', seen: 0 } as never)
          .execute();
        return await birdNames(database);
      });
      expect(seen).toEqual(['before']);
      expect(await birdNames(database)).toEqual(['before', 'during']);
    });

    it('never assigns an id twice, even after the row with the highest id is deleted', async () => {
      const database = await openBirds(backend);
      const first = await insertBird(database, 'a');
      await database.write(({ db }) => db.deleteFrom('birds').execute());
      expect(await insertBird(database, 'b')).toBeGreaterThan(first);
    });
  });

  eachPostgres((backend) => {
    it('is retried after a deadlock', async () => {
      const url = await backend.freshUrl();
      const [one, other] = [await openBirds(backend, url), await openBirds(backend, url)];
      await Promise.all([insertBird(one, 'a'), insertBird(one, 'b')]);
      const [runs, meet] = [[] as number[], barrier(2)];
      const update = (database: DatabaseWithJobs<BirdTables>, order: string[]) => {
        let run = 0;
        return database.write(async ({ db }) => {
          runs.push(++run);
          for (const [index, name] of order.entries()) {
            if (index === 1 && run === 1) await meet();
            await db
              .updateTable('birds')
              .set((is) => ({ seen: is('seen', '+', 1) }))
              .where('name', '=', name)
              .execute();
          }
        });
      };
      await Promise.all([update(one, ['a', 'b']), update(other, ['b', 'a'])]);
      // Does not expect exactly one retry, because the transaction may be aborted again on a busy machine.
      expect(runs).toContain(2);
      const rows = await one.db.selectFrom('birds').select('seen').execute();
      expect(rows).toEqual([{ seen: 3 }, { seen: 3 }]);
    });
  });
});

describe('an integer', () => {
  eachBackend((backend) => {
    it('is read as a number up to 2^53, including counts and sums', async () => {
      const database = await openBirds(backend);
      await insertBird(database, 'a', Number.MAX_SAFE_INTEGER - 1);
      await insertBird(database, 'b', 1);
      const row = await database.db
        .selectFrom('birds')
        .select((is) => [
          is.fn.countAll().as('count'),
          is.fn.sum('seen').as('sum'),
          is.fn.max('seen').as('max'),
        ])
        .executeTakeFirstOrThrow();
      expect(row).toEqual({ count: 2, sum: Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER - 1 });
    });

    it('is rejected above 2^53 instead of being rounded', async () => {
      const database = await openBirds(backend);
      await database.write(({ db }) =>
        sql`insert into birds (name, seen) values ('a', 9007199254740993)`.execute(db),
      );
      await expect(database.db.selectFrom('birds').select('seen').execute()).rejects.toThrow();
    });
  });
});

describe('writeSingle', () => {
  eachPostgres((backend) => {
    afterEach(() => {
      vi.useRealTimers();
    });

    it('disables the statement timeout, which applies again to later writes', async () => {
      const database = await openBirds(backend);
      const allowed = sql<{ allowed: string }>`select current_setting('statement_timeout') as allowed`;
      const { result } = await database.writeSingle(async ({ db }) => {
        vi.useFakeTimers({ toFake: ['setTimeout'] });
        const sleeping = sql`select pg_sleep(0.3)`.execute(db);
        await vi.advanceTimersByTimeAsync(60 * 60_000);
        vi.useRealTimers();
        await sleeping;
        return (await allowed.execute(db)).rows;
      });
      expect(result).toEqual([{ allowed: '0' }]);
      const next = await database.write(async ({ db }) => (await allowed.execute(db)).rows);
      expect(next).toEqual([{ allowed: '30s' }]);
    });
  });
});

describe('readiness', () => {
  eachBackend((backend) => {
    it('reports no problem while the database answers', async () => {
      expect(await (await openBirds(backend)).check()).toBeUndefined();
    });

    it('writes every five seconds without leaving a row behind, and reports a write that fails', async () => {
      const url = await backend.freshUrl();
      const time = { now: Date.parse('2026-03-01T00:00:00Z') };
      const database = await backend.open<BirdTables>({ migrations: [birds], url, now: () => time.now });
      const other = await backend.open<BirdTables>({ migrations: [birds], url, role: 'visiting' });
      expect(await database.check()).toBeUndefined();
      await other.write(async ({ db }) => {
        await db
          .insertInto('birds')
          .values({ name: 'writes nothing else', seen: 1 } as never)
          .execute();
        if (backend.name === 'postgres') await sql`lock table schedules in share mode`.execute(db);
        time.now += 4999;
        expect(await database.check()).toBeUndefined();
        time.now += 1;
        expect(await database.check()).toBe('the database has not answered for 3 s');
      });
      await expect.poll(() => database.check()).toBeUndefined();
      const { rows } = await sql`select name from schedules`.execute(database.db);
      expect(rows).toEqual([]);
    });
  });
});

/** Returns a function that resolves once it has been called this many times. */
function barrier(parties: number): () => Promise<void> {
  let arrived = 0;
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return async () => {
    if (++arrived === parties) open();
    await opened;
  };
}
