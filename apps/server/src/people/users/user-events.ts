import type { JsonObject, UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import type { Kysely } from 'kysely';
import type { PublishedEvent } from '../../platform/event-queues/publish-events.js';
import type { ServerTables } from '../../tables.js';
import { readsAddress, shownAddress } from './address-visibility.js';
import { writeNewPicture } from './avatar.js';
import type { UserDetails } from './user-details.js';
import { writeUser } from './user-record.js';
import type { User } from './user-store.js';
import { activeReaders, readersOf, readVisibility } from './user-visibility.js';

/** The events for a new user, with the fields that each audience can see. */
export async function eventsOfNewUser(
  db: Kysely<ServerTables>,
  user: UserDetails,
  realm: Pick<PushRealm, 'url'>,
): Promise<PublishedEvent[]> {
  const sees = await readVisibility(db);
  const seeing = (await activeReaders(db)).filter((reader) => sees(reader, user));
  const knowing = seeing.filter((reader) => readsAddress(reader, user));
  const others = seeing.filter((reader) => !readsAddress(reader, user));
  return [knowing, others].flatMap((readers) => {
    const [reader] = readers;
    if (reader === undefined) return [];
    // The provider's URL does no harm to clients that could compute it.
    const options = { reader, realm, clientMakesAvatars: false, profileDataOf: () => ({}) };
    const person = writeUser(user, options) as JsonObject;
    return [{ event: { type: 'realm_user', op: 'add', person }, audience: readers.map(({ id }) => id) }];
  });
}

/** The events for deactivated or reactivated users, for active readers who can see them. */
export async function eventsOfActivity(
  db: Kysely<ServerTables>,
  users: readonly Pick<User, 'id' | 'isBot'>[],
  isActive: boolean,
): Promise<PublishedEvent[]> {
  const events: PublishedEvent[] = [];
  for (const user of users) {
    const person = { user_id: user.id, is_active: isActive };
    const event = { type: 'realm_user', op: 'update', person };
    events.push({ event, audience: await readersOf(db, user) });
  }
  return events;
}

/** The event for a changed avatar, for readers who can see the user. */
export async function eventsOfPicture(
  db: Kysely<ServerTables>,
  user: UserDetails,
  realm: Pick<PushRealm, 'url'>,
): Promise<PublishedEvent[]> {
  const person = { user_id: user.id, ...writeNewPicture(shownAddress(user, realm), user) };
  return [{ event: { type: 'realm_user', op: 'update', person }, audience: await readersOf(db, user) }];
}

interface ChangedVisibility {
  readonly before: UserDetails;
  readonly after: UserDetails;
  readonly realm: Pick<PushRealm, 'url'>;
}

/**
 * The events for a changed address visibility. Readers who gain the address get it, readers who lose it get `null`.
 * If the shown address changes, all readers who can see the user get it, with the new provider avatar.
 */
export async function eventsOfVisibility(
  db: Kysely<ServerTables>,
  { before, after, realm }: ChangedVisibility,
): Promise<PublishedEvent[]> {
  const sees = await readVisibility(db);
  const seeing = (await activeReaders(db)).filter((reader) => sees(reader, after));
  const publish = (fields: JsonObject, readers: readonly { readonly id: UserId }[]): PublishedEvent => {
    const person = { user_id: after.id, ...fields };
    return { event: { type: 'realm_user', op: 'update', person }, audience: readers.map(({ id }) => id) };
  };
  const gainers = seeing.filter((reader) => readsAddress(reader, after) && !readsAddress(reader, before));
  const usersLosingAccess = seeing.filter(
    (reader) => readsAddress(reader, before) && !readsAddress(reader, after),
  );
  const events = [
    publish({ delivery_email: after.email }, gainers),
    publish({ delivery_email: null }, usersLosingAccess),
  ];
  const shown = shownAddress(after, realm);
  if (shown !== shownAddress(before, realm)) {
    events.push(publish({ new_email: shown }, seeing));
    if (after.avatarUrl === undefined) events.push(publish(writeNewPicture(shown, after), seeing));
  }
  return events.filter(({ audience }) => audience.length > 0);
}
