import { fixedQuery } from '@waxwing/storage';
import { expect, it } from 'vitest';
import { eachBackend } from '../support/test-databases.js';
import { type BirdTables, birdNames, insertBird, openBirds } from './birds.js';

const birdsByName = fixedQuery<BirdTables, object, { name: string }>((db) =>
  db.selectFrom('birds').select('name').orderBy('name'),
);
const renameBirds = fixedQuery<BirdTables, { readonly name: string }, object>((db, parameter) =>
  db.updateTable('birds').set({ name: parameter('name') }),
);

eachBackend((backend) => {
  it('sees in a write what that has done, which others do not see before its end', async () => {
    const database = await openBirds(backend);
    await insertBird(database, 'waxwing');
    const seen = await database.write(async ({ db }) => {
      await renameBirds(db, { name: 'robin' });
      return [await birdsByName(db, {}), await birdsByName(database.db, {})];
    });
    expect(seen).toEqual([[{ name: 'robin' }], [{ name: 'waxwing' }]]);
    expect(await birdsByName(database.db, {})).toEqual([{ name: 'robin' }]);
  });

  it('is refused after the end of its write, and gets into no later one', async () => {
    const database = await openBirds(backend);
    await insertBird(database, 'waxwing');
    const ended = await database.write(async ({ db }) => db);
    await database.write(async ({ db }) => {
      await renameBirds(db, { name: 'robin' });
      await expect(renameBirds(ended, { name: 'late' })).rejects.toThrow('already committed');
    });
    expect(await birdNames(database)).toEqual(['robin']);
  });

  it('waits for its turn where it writes outside of a write', async () => {
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
});
