import { fixedQuery } from '@waxwing/storage';
import { expect, it, vi } from 'vitest';
import { eachBackend } from '../support/test-databases.js';
import { type BirdTables, birdNames, insertBird, openBirds } from './birds.js';

const birdsByName = fixedQuery<BirdTables, object, { name: string }>((db) =>
  db.selectFrom('birds').select('name').orderBy('name'),
);
const renameBirds = fixedQuery<BirdTables, { readonly name: string }, object>((db, parameter) =>
  db.updateTable('birds').set({ name: parameter('name') }),
);

eachBackend((backend) => {
  it('a fixed query sees uncommitted changes only in its own write', async () => {
    const database = await openBirds(backend);
    await insertBird(database, 'waxwing');
    const seen = await database.write(async ({ db }) => {
      await renameBirds(db, { name: 'robin' });
      return [await birdsByName(db, {}), await birdsByName(database.db, {})];
    });
    expect(seen).toEqual([[{ name: 'robin' }], [{ name: 'waxwing' }]]);
    expect(await birdsByName(database.db, {})).toEqual([{ name: 'robin' }]);
  });

  it('a fixed query is rejected after its write has ended, and does not run in a later write', async () => {
    const database = await openBirds(backend);
    await insertBird(database, 'waxwing');
    const ended = await database.write(async ({ db }) => db);
    await database.write(async ({ db }) => {
      await renameBirds(db, { name: 'robin' });
      await expect(renameBirds(ended, { name: 'late' })).rejects.toThrow('already committed');
    });
    expect(await birdNames(database)).toEqual(['robin']);
  });

  it('a fixed query outside a write waits for the write lock', async () => {
    const database = await openBirds(backend);
    await insertBird(database, 'waxwing');
    let late: Promise<object[]> | undefined;
    await database.write(async ({ db }) => {
      late = renameBirds(database.db, { name: 'late' });
      if (backend.name === 'sqlite') expect(await birdsByName(db, {})).toEqual([{ name: 'waxwing' }]);
    });
    await late;
    expect(await birdNames(database)).toEqual(['late']);
  });

  it('a fixed query bypasses Kysely on SQLite, inside and outside a write', async () => {
    const database = await openBirds(backend);
    await insertBird(database, 'waxwing');
    const ways = await database.write(async ({ db }) => {
      const spies = [vi.spyOn(db, 'executeQuery'), vi.spyOn(database.db, 'executeQuery')] as const;
      await renameBirds(db, { name: 'robin' });
      await birdsByName(database.db, {});
      const calls = spies.map((spy) => spy.mock.calls.length);
      for (const spy of spies) spy.mockRestore();
      return calls;
    });
    expect(ways).toEqual(backend.name === 'sqlite' ? [0, 0] : [1, 1]);
  });

  it('a fixed query in a read transaction sees the state at the start of the transaction', async () => {
    const database = await openBirds(backend);
    await insertBird(database, 'waxwing');
    const reading = database.db.transaction().setAccessMode('read only').setIsolationLevel('repeatable read');
    const seen = await reading.execute(async (db) => {
      const before = await birdsByName(db, {});
      await insertBird(database, 'robin');
      return [before, await birdsByName(db, {})];
    });
    expect(seen).toEqual([[{ name: 'waxwing' }], [{ name: 'waxwing' }]]);
    expect(await birdNames(database)).toEqual(['robin', 'waxwing']);
  });
});
