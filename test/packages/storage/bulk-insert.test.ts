import { BulkInsert, StatementOfRows } from '@waxwing/storage';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { type BirdTables, openBirds } from '../../contracts/birds.js';
import { eachBackend, eachPostgres } from '../../support/test-databases.js';

interface Inserted {
  readonly name: string;
  readonly seen: number;
}

eachBackend((backend) => {
  it('inserts any number of rows with any text, on PostgreSQL in one statement', async () => {
    const database = await openBirds(backend);
    const insert = new BulkInsert<Inserted>(database.db, { name: 'text', seen: 'integer' }, (rows) =>
      database.db.insertInto('birds').columns(['name', 'seen']).expression(rows).returning(['name', 'seen']),
    );
    const texts = ['', 'NULL', '{"a",b}', "'", '\\', '\\"', '\n', 'ü\u{1F426}', ' '];
    for (const count of [0, 1, 5, 300]) {
      const birds = Array.from({ length: count }, (_, index) => ({
        name: `${texts[index % texts.length]}${index < texts.length ? '' : index}`,
        seen: index % 2 === 0 ? index : Number.MAX_SAFE_INTEGER - index,
      }));
      let statements = 0;
      const returned = await database.write(async ({ db }) => {
        const execute = vi.spyOn(db, 'executeQuery');
        const values = birds.map(({ name, seen }) => [name, seen]);
        const rows = await insert.run(db, values);
        statements = execute.mock.calls.length;
        return rows;
      });
      const inOrder = (rows: readonly Inserted[]) => [...rows].sort((left, right) => left.seen - right.seen);
      expect(inOrder(returned)).toEqual(inOrder(birds));
      if (backend.name === 'postgres') expect(statements).toBe(Math.min(count, 1));
      const stored = await database.db.selectFrom('birds').select(['name', 'seen']).execute();
      expect(inOrder(stored)).toEqual(inOrder(birds));
      await database.write(({ db }) => db.deleteFrom('birds' satisfies keyof BirdTables).execute());
    }
  });
});

eachPostgres((backend) => {
  it('is parsed and planned by PostgreSQL once per connection', async () => {
    const database = await openBirds(backend);
    const insert = new BulkInsert(database.db, { name: 'text', seen: 'integer' }, (rows) =>
      database.db.insertInto('birds').columns(['name', 'seen']).expression(rows),
    );
    const kept = await database.write(async ({ db }) => {
      await insert.run(db, [['wren', 1]]);
      await insert.run(db, [['finch', 2]]);
      const { rows } = await sql<{ uses: number }>`
        select generic_plans + custom_plans as uses from pg_prepared_statements
        where statement like 'insert into "birds"%'`.execute(db);
      return rows;
    });
    expect(kept).toEqual([{ uses: 2 }]);
  });

  it.each([
    ['its connection has lost the plan', 'deallocate all'],
    ['its result columns have changed', 'alter table birds alter column seen type integer'],
  ])('is planned again without an error if %s', async (_, change) => {
    const database = await openBirds(backend);
    const insert = new BulkInsert<Inserted>(database.db, { name: 'text', seen: 'integer' }, (rows) =>
      database.db.insertInto('birds').columns(['name', 'seen']).expression(rows).returning(['name', 'seen']),
    );
    for (let index = 0; index < 3; index++) {
      const add = (name: string) => database.write(({ db }) => insert.run(db, [[name, index]]));
      expect(await add(`wren ${index}`)).toEqual([{ name: `wren ${index}`, seen: index }]);
      await database.write(({ db }) => sql.raw(change).execute(db));
      expect(await add(`finch ${index}`)).toEqual([{ name: `finch ${index}`, seen: index }]);
    }
    expect(await database.db.selectFrom('birds').select('seen').execute()).toHaveLength(6);
  });

  it('is planned again if every connection has a stale plan', async () => {
    const database = await openBirds(backend);
    const insert = new BulkInsert<Inserted>(database.db, { name: 'text', seen: 'integer' }, (rows) =>
      database.db.insertInto('birds').columns(['name', 'seen']).expression(rows).returning(['name', 'seen']),
    );
    const connections = 10;
    let kept = 0;
    const keep = (_: unknown, index: number) =>
      database.db.transaction().execute(async (db) => {
        await insert.run(db, [[`wren ${index}`, index]]);
        kept += 1;
        // Each transaction keeps its connection until all have one, so that no connection is reused.
        await vi.waitUntil(() => kept === connections);
      });
    await Promise.all(Array.from({ length: connections }, keep));
    await database.write(({ db }) => sql`alter table birds alter column seen type integer`.execute(db));
    const added = await database.write(({ db }) => insert.run(db, [['finch', 1]]));
    expect(added).toEqual([{ name: 'finch', seen: 1 }]);
  });

  it('is planned again even if it is a write of its own, without a transaction', async () => {
    const database = await openBirds(backend);
    const { db } = database;
    const insert = new StatementOfRows<Inserted>(
      { name: 'text', seen: 'integer' },
      (rows) =>
        sql<Inserted>`with given (name, seen) as (${rows})
          insert into birds (name, seen) select * from given returning name, seen`.compile(db),
      { isInsertion: true },
    );
    const add = (name: string, seen: number) =>
      database.writeStatement((db) => {
        expect(db.isTransaction).toBe(false);
        return insert.run(db, [[name, seen]]);
      });
    for (let index = 0; index < 3; index++) {
      expect(await add(`wren ${index}`, index)).toEqual([{ name: `wren ${index}`, seen: index }]);
      // Removes the prepared statement from every connection, so that the next insert fails with that error.
      await Promise.all(Array.from({ length: 10 }, () => sql`deallocate all`.execute(db)));
      expect(await add(`finch ${index}`, index)).toEqual([{ name: `finch ${index}`, seen: index }]);
    }
    expect(await db.selectFrom('birds').select('seen').execute()).toHaveLength(6);
  });
});
