import { randomBytes } from 'node:crypto';
import { Secret } from '@waxwing/service/config';
import type { Kysely, Transaction } from 'kysely';
import type { ServerDatabase, ServerTables } from '../../tables.js';

const signingKeyBytes = 32;

/** Returns the key that signs temporary download URLs. Generates the key on first use, and never changes it. */
export async function readSigningKey(database: ServerDatabase): Promise<Secret<Buffer>> {
  const find = () => database.db.selectFrom('upload_account').select('signing_key').executeTakeFirst();
  const known = await find();
  if (known !== undefined) return new Secret(Buffer.from(known.signing_key, 'hex'));
  const key = randomBytes(signingKeyBytes).toString('hex');
  await database.write(({ db }) =>
    db
      .insertInto('upload_account')
      .values({ id: 1, signing_key: key, used_bytes: 0 })
      // If another process inserts its key first, that key is used.
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute(),
  );
  return new Secret(Buffer.from((await find())?.signing_key ?? key, 'hex'));
}

/** Returns the total bytes of the stored files. */
export async function readUsedBytes(db: Kysely<ServerTables>): Promise<number> {
  const row = await db.selectFrom('upload_account').select('used_bytes').executeTakeFirst();
  return row?.used_bytes ?? 0;
}

/** Adds the bytes of a stored file to the used bytes if they fit into `quotaBytes`. Returns whether they fit. */
export async function takeBytes(
  db: Transaction<ServerTables>,
  bytes: number,
  quotaBytes: number | undefined,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('upload_account')
    .set((account) => ({ used_bytes: account('used_bytes', '+', bytes) }))
    .$if(quotaBytes !== undefined, (query) => query.where('used_bytes', '<=', (quotaBytes ?? 0) - bytes))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Subtracts the bytes of removed files from the used bytes. */
export async function giveBytesBack(db: Transaction<ServerTables>, bytes: number): Promise<void> {
  await db
    .updateTable('upload_account')
    .set((account) => ({ used_bytes: account('used_bytes', '-', bytes) }))
    .execute();
}
