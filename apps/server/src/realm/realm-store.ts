import { randomUUID } from 'node:crypto';
import type { PushRealm } from '@waxwing/server-push';
import type { ServerDatabase } from '../tables.js';

/** The organisation: its UUID is made when it is first asked for and never changes, the rest is configured. */
export async function readRealm(
  database: ServerDatabase,
  configured: Omit<PushRealm, 'uuid'>,
  now: number,
): Promise<PushRealm> {
  const find = () => database.db.selectFrom('realm').select('uuid').executeTakeFirst();
  const found = await find();
  if (found !== undefined) return { ...found, ...configured };
  const uuid = randomUUID();
  await database.write(({ db }) =>
    db
      .insertInto('realm')
      .values({ id: 1, uuid, created_at: now })
      // Another process may have been first: its UUID is the organisation's.
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute(),
  );
  return { uuid, ...(await find()), ...configured };
}
