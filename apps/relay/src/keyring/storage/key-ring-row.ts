import type { KeyRingStore } from './key-ring-store.js';
import type { KeyRingDatabase } from './key-ring-tables.js';

const defaultName = 'relay';

/** Key ring store in one row of the relay's database, for relays on several machines. Encrypted as in a file. */
export function keyRingRow(database: KeyRingDatabase, name = defaultName): KeyRingStore {
  return {
    location: name === defaultName ? "the relay's database" : `the relay's database (key ring "${name}")`,
    identities: () => [`row ${name}`],
    async read() {
      const row = await database.db
        .selectFrom('key_rings')
        .select('encrypted')
        .where('name', '=', name)
        .executeTakeFirst();
      return row?.encrypted;
    },
    replace: (expected, next) =>
      database.write(async ({ db }) => {
        if (expected === undefined) {
          const { numInsertedOrUpdatedRows } = await db
            .insertInto('key_rings')
            .values({ name, encrypted: next })
            .onConflict((conflict) => conflict.column('name').doNothing())
            .executeTakeFirstOrThrow();
          return numInsertedOrUpdatedRows === 1n;
        }
        const { numUpdatedRows } = await db
          .updateTable('key_rings')
          .set({ encrypted: next })
          .where('name', '=', name)
          .where('encrypted', '=', expected)
          .executeTakeFirstOrThrow();
        return numUpdatedRows === 1n;
      }),
    remove: (expected) =>
      database.write(async ({ db }) => {
        const { numDeletedRows } = await db
          .deleteFrom('key_rings')
          .where('name', '=', name)
          .where('encrypted', '=', expected)
          .executeTakeFirstOrThrow();
        return numDeletedRows === 1n;
      }),
  };
}
