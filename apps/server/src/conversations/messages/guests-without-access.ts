import type { UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { seeingUser } from '../../people/users/user-visibility.js';
import { type Role, roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import type { SentMessage } from './message-events.js';
import type { RelatedRecords } from './related-records.js';

/**
 * Returns, for each sender, the guests who receive a message but may not see the sender. Usually runs no query: if
 * every sender has a copy of the message, all recipients can see the sender, because members of a channel or
 * conversation can see each other.
 */
export async function guestsWithoutAccess(
  db: Kysely<ServerTables>,
  sent: readonly Pick<SentMessage, 'message' | 'copies'>[],
  related: Pick<RelatedRecords, 'user'>,
): Promise<ReadonlyMap<UserId, ReadonlySet<UserId>>> {
  const strange = sent.filter(
    ({ message: { senderId }, copies }) =>
      !related.user(senderId).isBot && !copies.some(({ userId }) => userId === senderId),
  );
  const readerIds = [...new Set(strange.flatMap(({ copies }) => copies.map(({ userId }) => userId)))];
  if (readerIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('users')
    .select(['id', 'role'])
    .where('id', 'in', amongNumbers(db, readerIds))
    .where('role', '=', roles.guest)
    .execute();
  if (rows.length === 0) return new Map();
  const guests = rows.map(({ id, role }) => ({ id, role: role as Role }));
  const hidden = new Map<UserId, ReadonlySet<UserId>>();
  for (const { senderId } of strange.map(({ message }) => message)) {
    const seeing = new Set(await seeingUser(db, related.user(senderId), guests));
    hidden.set(senderId, new Set(guests.filter((guest) => !seeing.has(guest)).map(({ id }) => id)));
  }
  return hidden;
}
