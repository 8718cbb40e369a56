import { addIdColumn, type Database, type MigrationSet, raiseIdCounter } from '@waxwing/storage';
import type { Generated } from 'kysely';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { eachBackend, eachPostgres } from '../../support/test-databases.js';

interface Tables {
  rows: { id: Generated<number>; name: string };
}

const migrations: MigrationSet[] = [
  {
    unit: 'rows',
    migrations: {
      '0001-rows': {
        async up(db) {
          await addIdColumn(db, db.schema.createTable('rows')).addColumn('name', 'text').execute();
        },
      },
    },
  },
];
const floor = 456_000_000_000_000;

async function add(database: Database<Tables>): Promise<number> {
  const { id } = await database.write(({ db }) =>
    db.insertInto('rows').values({ name: 'a' }).returning('id').executeTakeFirstOrThrow(),
  );
  return id;
}

eachBackend((backend) => {
  const open = () => backend.open<Tables>({ migrations });

  it.each([
    ['empty', 0],
    ['used', 3],
  ])('ids in a table that is %s continue above the floor', async (_state, before) => {
    const database = await open();
    for (let count = 0; count < before; count += 1) expect(await add(database)).toBe(count + 1);
    await raiseIdCounter(database, 'rows', floor);
    expect(await add(database)).toBe(floor + 1);
  });

  it('the counter is never lowered, and is not raised by a floor that it has reached', async () => {
    const database = await open();
    await raiseIdCounter(database, 'rows', floor);
    await raiseIdCounter(database, 'rows', floor);
    await raiseIdCounter(database, 'rows', 7);
    await raiseIdCounter(database, 'rows', 0);
    expect(await add(database)).toBe(floor + 1);
    await raiseIdCounter(database, 'rows', floor + 1);
    expect(await add(database)).toBe(floor + 2);
  });

  it('no id is used twice while several processes raise the counter and insert', async () => {
    const url = await backend.freshUrl();
    const first = await backend.open<Tables>({ url, migrations });
    const others =
      backend.name === 'sqlite'
        ? [first]
        : [await backend.open<Tables>({ url, migrations }), await backend.open<Tables>({ url, migrations })];
    const ids: number[] = [];
    const work = [first, ...others].flatMap((database, index) =>
      Array.from({ length: 8 }, async (_, step) => {
        await raiseIdCounter(database, 'rows', floor + step * 5000 + index);
        ids.push(await add(database));
      }),
    );
    await Promise.all(work);
    expect(new Set(ids).size).toBe(ids.length);
    expect(Math.min(...ids)).toBeGreaterThan(floor);
  });
});

eachPostgres((backend) => {
  it('a database user without the right to set the counter gets an error that names the right to grant', async () => {
    const url = await backend.freshUrl();
    const owner = await backend.open<Tables>({ url, migrations });
    const role = `limited_${process.pid}`;
    const run = (statement: string) => owner.write(({ db }) => sql.raw(statement).execute(db));
    await run(`create role ${role} login`);
    await run(`grant all on all tables in schema public to ${role}`);
    await run(`grant usage on all sequences in schema public to ${role}`);
    const limitedUrl = new URL(url);
    limitedUrl.username = role;
    const limited = await backend.open<Tables>({ url: limitedUrl.href, migrations });
    try {
      const grant = 'grant select, update on sequence rows_id_seq';
      await expect(raiseIdCounter(limited, 'rows', floor)).rejects.toThrow(grant);
      await run(`${grant} to ${role}`);
      await raiseIdCounter(limited, 'rows', floor);
      expect(await add(limited)).toBe(floor + 1);
    } finally {
      await limited.close();
      await run(`drop owned by ${role}`);
      await run(`drop role ${role}`);
    }
  });
});
