import type { JsonObject } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import type { Kysely } from 'kysely';
import type { EventsForOwners, PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { QueueOwner } from '../../platform/event-queues/queue-owners.js';
import type { ServerTables } from '../../tables.js';
import { readsAddress, shownAddress } from './address-visibility.js';
import { writeNewPicture } from './avatar.js';
import type { UserDetails } from './user-details.js';
import { writeUser } from './user-record.js';
import type { User } from './user-store.js';
import { seeingUser } from './user-visibility.js';

/** Builds events that are the same for every user who can see the changed user. */
export function eventsForSeeing(
  db: Kysely<ServerTables>,
  user: Pick<User, 'id' | 'isBot'>,
  events: readonly (JsonObject & { readonly type: string })[],
): EventsForOwners {
  return {
    types: events.map(({ type }) => type),
    async build(owners) {
      const audience = (await seeingUser(db, user, owners)).map(({ id }) => id);
      return events.map((event) => ({ event, audience }));
    },
  };
}

/** Builds the events for a new user, with the fields that each audience can see. */
export function eventsOfNewUser(
  db: Kysely<ServerTables>,
  user: UserDetails,
  realm: Pick<PushRealm, 'url'>,
): EventsForOwners {
  return {
    types: ['realm_user'],
    async build(owners) {
      const seeing = await seeingUser(db, user, owners);
      const knowing = seeing.filter((reader) => readsAddress(reader, user));
      const others = seeing.filter((reader) => !readsAddress(reader, user));
      return [knowing, others].flatMap((readers) => {
        const [reader] = readers;
        if (reader === undefined) return [];
        // Clients that can compute the provider's URL may still get the URL.
        const options = { reader, realm, clientMakesAvatars: false, profileDataOf: () => ({}) };
        const person = writeUser(user, options) as JsonObject;
        return [{ event: { type: 'realm_user', op: 'add', person }, audience: readers.map(({ id }) => id) }];
      });
    },
  };
}

/** Builds the event for a deactivated or reactivated user, for active readers who can see the user. */
export function eventOfActivity(
  db: Kysely<ServerTables>,
  user: Pick<User, 'id' | 'isBot'>,
  isActive: boolean,
): EventsForOwners {
  const person = { user_id: user.id, is_active: isActive };
  return eventsForSeeing(db, user, [{ type: 'realm_user', op: 'update', person }]);
}

/** Builds the event for a changed avatar, for readers who can see the user. */
export function eventsOfPicture(
  db: Kysely<ServerTables>,
  user: UserDetails,
  realm: Pick<PushRealm, 'url'>,
): EventsForOwners {
  const person = { user_id: user.id, ...writeNewPicture(shownAddress(user, realm), user) };
  return eventsForSeeing(db, user, [{ type: 'realm_user', op: 'update', person }]);
}

interface ChangedVisibility {
  readonly before: UserDetails;
  readonly after: UserDetails;
  readonly realm: Pick<PushRealm, 'url'>;
}

/**
 * Builds the events for a change of who can see a user's email address. Readers who gain access get the address;
 * readers who lose access get `null`. If the displayed address changes, all readers who can see the user get the new
 * one, with the avatar URL that is derived from it unless the user has a picture.
 */
export function eventsOfVisibility(db: Kysely<ServerTables>, changed: ChangedVisibility): EventsForOwners {
  return {
    types: ['realm_user'],
    build: async (owners) => visibilityEvents(changed, await seeingUser(db, changed.after, owners)),
  };
}

function visibilityEvents(
  { before, after, realm }: ChangedVisibility,
  seeing: readonly QueueOwner[],
): PublishedEvent[] {
  const publish = (fields: JsonObject, readers: readonly QueueOwner[]): PublishedEvent => {
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
