import { amongNumbers, fixedQuery, isAmong, isAmongListed, listText, rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { eachBackend } from '../support/test-databases.js';
import { type BirdTables, insertBird, openBirds } from './birds.js';

const names = ['plain', 'null', '', 'with "quotes", {braces} and \\', 'two\nlines'];

eachBackend((backend) => {
  describe('values as parameters', () => {
    it('can form the rows of a table, with any text', async () => {
      const { db } = await openBirds(backend);
      const rows = names.map((name, index) => ({ id: Number.MAX_SAFE_INTEGER - index, name }));
      const table = rowsAsTable(db, 'v', { id: 'integer', name: 'text' }, rows);
      const found = await sql`select v.id, v.name from ${table} order by v.id desc`.execute(db);
      expect(found.rows).toEqual(rows);
    });

    it('can form the list of an "in" condition', async () => {
      const database = await openBirds(backend);
      for (const name of [...names, 'other']) await insertBird(database, name);
      const { db } = database;
      const birds = await db
        .selectFrom('birds')
        .selectAll()
        .where(isAmong(db, 'name', 'text', names))
        .execute();
      expect(birds.map(({ name }) => name).sort()).toEqual([...names].sort());
      const ids = birds.map(({ id }) => id);
      const byId = db.selectFrom('birds').select('id').orderBy('id');
      const expected = ids.sort((a, b) => a - b).map((id) => ({ id }));
      expect(await byId.where(isAmong(db, 'birds.id', 'integer', ids)).execute()).toEqual(expected);
      expect(await byId.where('id', 'in', amongNumbers(db, ids)).execute()).toEqual(expected);
      expect(await byId.where(isAmong(db, 'id', 'integer', [])).execute()).toEqual([]);
      expect(await byId.where('id', 'in', amongNumbers(db, [])).execute()).toEqual([]);
    });

    it('can be a parameter of a fixed query', async () => {
      const database = await openBirds(backend);
      for (const name of [...names, 'other']) await insertBird(database, name);
      const { db } = database;
      const find = fixedQuery<BirdTables, { readonly list: string }, { name: string }>((given, parameter) =>
        given
          .selectFrom('birds')
          .select('name')
          .where(isAmongListed(given, 'name', 'text', parameter('list'))),
      );
      const birds = await find(db, { list: listText(db, names) });
      expect(birds.map(({ name }) => name).sort()).toEqual([...names].sort());
      expect(await find(db, { list: listText(db, []) })).toEqual([]);
    });
  });
});
