import type { PushRealm } from '@waxwing/server-push';
import type { ServerDatabase } from '../server-tables.js';

/** The organisation: its UUID was made with the database and never changes, the rest is configured. */
export async function readRealm(
  database: ServerDatabase,
  configured: Omit<PushRealm, 'uuid'>,
): Promise<PushRealm> {
  const { uuid } = await database.db.selectFrom('realm').select('uuid').executeTakeFirstOrThrow();
  return { uuid, ...configured };
}
