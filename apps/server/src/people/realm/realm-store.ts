import { randomUUID } from 'node:crypto';
import type { PushRealm } from '@waxwing/server-push';
import type { ServerDatabase } from '../../tables.js';

/**
 * Reads the organization. Its UUID is generated on first use and never changes. All other values come from the
 * configuration.
 */
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
      .values({ id: 1, uuid, created_at: now, users_version: randomUUID() })
      // If another process inserts its UUID first, that UUID is used.
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute(),
  );
  return { uuid, ...(await find()), ...configured };
}
