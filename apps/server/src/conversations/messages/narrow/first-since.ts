import type { Kysely } from 'kysely';
import type { ServerTables } from '../../../tables.js';

/**
 * Returns the lowest id of the messages sent at or after `instant` (Unix milliseconds), or `undefined` if there are
 * none. Uses a binary search by id, because ids ascend with time. This takes a few dozen lookups and needs no index by
 * time, which would slow down sending.
 */
export async function firstIdSince(db: Kysely<ServerTables>, instant: number): Promise<number | undefined> {
  const { newest } = await db
    .selectFrom('messages')
    .select(({ fn }) => fn.max('id').as('newest'))
    .executeTakeFirstOrThrow();
  let tooOld = 0;
  let found: number | undefined;
  let end = Number(newest ?? 0) + 1;
  while (end - tooOld > 1) {
    const middle = Math.floor((tooOld + end) / 2);
    const next = await firstFrom(db, middle);
    if (next === undefined || next.sent_at >= instant) {
      found = next?.id ?? found;
      end = middle;
    } else {
      tooOld = next.id;
    }
  }
  return found;
}

function firstFrom(db: Kysely<ServerTables>, id: number) {
  return db
    .selectFrom('messages')
    .select(['id', 'sent_at'])
    .where('id', '>=', id as never)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}
