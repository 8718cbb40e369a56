import { columnTypes, fixedQuery, type MigrationSet } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';

interface Tables {
  numbers: { n: number };
}

const migrations: MigrationSet = {
  unit: 'numbers',
  migrations: {
    '0001-numbers': {
      async up(db: Kysely<unknown>): Promise<void> {
        await db.schema
          .createTable('numbers')
          .addColumn('n', columnTypes.integer, (column) => column.primaryKey())
          .execute();
      },
    },
  },
};

describe('a limit', () => {
  eachBackend((backend) => {
    it('may be set at run time, without making SQLite compile the query each time', async () => {
      const { db } = await backend.open<Tables>({ migrations: [migrations] });
      await db
        .insertInto('numbers')
        .values([3, 1, 2].map((n) => ({ n })))
        .execute();
      const ordered = db.selectFrom('numbers').select('n').orderBy('n');
      const two = ordered.limit(2);
      const { sql, parameters } = two.compile();
      expect(sql).toMatch(backend.name === 'sqlite' ? / limit \? \+ 0$/ : / limit \$1$/);
      expect(parameters).toEqual([2]);
      expect(await two.execute()).toEqual([{ n: 1 }, { n: 2 }]);
      expect(await ordered.limit(0).execute()).toEqual([]);
      expect(await ordered.limit(1).offset(2).execute()).toEqual([{ n: 3 }]);
      const some = fixedQuery<Tables, { readonly most: number }, { n: number }>((reader, parameter) =>
        reader.selectFrom('numbers').select('n').orderBy('n').limit(parameter('most')),
      );
      expect(await some(db, { most: 1 })).toEqual([{ n: 1 }]);
      expect(await some(db, { most: 3 })).toHaveLength(3);
    });
  });
});
