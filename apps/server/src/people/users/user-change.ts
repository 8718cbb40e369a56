import type { JsonObject, UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { ServerContext } from '../../context.js';
import type { EventsToPublish, PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { QueueOwner } from '../../platform/event-queues/queue-owners.js';
import { addressKey } from '../../platform/names/address-key.js';
import { nameKey } from '../../platform/names/name-key.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { memberEvents } from '../groups/member-events.js';
import { type MembershipChange, settleRoleGroups } from '../groups/settle-role-groups.js';
import { readRealmSetting } from '../realm/realm-setting-store.js';
import { isPublicAddress, readsAddress, shownAddress } from './address-visibility.js';
import { writeNewPicture } from './avatar.js';
import type { UserChange } from './plan-user-update.js';
import type { UserDetails } from './user-details.js';
import { seeingUser } from './user-visibility.js';

/** Applies a change to a locked user. Returns the user after the change, and the changed memberships in role groups. */
export async function applyUserChange(
  { db }: ServerTransaction,
  before: UserDetails,
  { userId, fullName, role, email }: UserChange,
  now: number,
): Promise<{ readonly after: UserDetails; readonly memberships: readonly MembershipChange[] }> {
  const changesPicture = email !== undefined && hasPublicProviderPicture(before);
  const avatarVersion = before.avatarVersion + (changesPicture ? 1 : 0);
  const set = {
    ...(fullName === undefined ? {} : { full_name: fullName, name_key: nameKey(fullName) }),
    ...(role === undefined ? {} : { role }),
    ...(email === undefined ? {} : { email, email_lower: addressKey(email), avatar_version: avatarVersion }),
  };
  if (Object.keys(set).length > 0) {
    await db.updateTable('users').set(set).where('id', '=', userId).execute();
  }
  const after: UserDetails = {
    ...before,
    fullName: fullName ?? before.fullName,
    role: role ?? before.role,
    email: email ?? before.email,
    avatarVersion,
  };
  if (role === undefined) return { after, memberships: [] };
  const waitingPeriodDays = await readRealmSetting(db, 'waiting_period_threshold');
  return { after, memberships: await settleRoleGroups(db, { userIds: [userId], waitingPeriodDays, now }) };
}

/** An applied change to a user, with its results. */
interface ChangedUser {
  readonly change: UserChange;
  readonly after: UserDetails;
  readonly memberships: readonly MembershipChange[];
  readonly realm: ServerContext['realm'];
}

/**
 * Builds the events for a change, in order. The real address goes only to users who can read it, all other fields to
 * users who can see the changed user.
 */
export function eventsOfUserChange(db: Kysely<ServerTables>, changed: ChangedUser): EventsToPublish {
  const { change, memberships } = changed;
  if (Object.keys(change).length === 1) return [];
  return {
    types: ['realm_user', 'user_group'],
    async build(owners) {
      const readers = await seeingUser(db, changed.after, owners);
      const events = changeEvents(changed, readers);
      for (const event of memberEvents(memberships)) events.push({ event, audience: idsOf(owners) });
      return events;
    },
  };
}

/** Builds the events about the changed user, for readers who can see the user. */
function changeEvents(
  { change, after, realm }: ChangedUser,
  readers: readonly QueueOwner[],
): PublishedEvent[] {
  const seeing = idsOf(readers);
  const update = (fields: JsonObject): JsonObject => ({
    type: 'realm_user',
    op: 'update',
    person: { user_id: after.id, ...fields },
  });
  const { fullName, role, email } = change;
  const events: PublishedEvent[] = [];
  if (fullName !== undefined) events.push({ event: update({ full_name: fullName }), audience: seeing });
  if (role !== undefined) events.push({ event: update({ role }), audience: seeing });
  if (email !== undefined) {
    const knowing = idsOf(readers.filter((reader) => readsAddress(reader, after)));
    events.push({ event: update({ delivery_email: email }), audience: knowing });
    for (const fields of ofPublicAddress(after, realm)) {
      events.push({ event: update(fields), audience: seeing });
    }
  }
  return events;
}

function idsOf(owners: readonly QueueOwner[]): UserId[] {
  return owners.map(({ id }) => id);
}

/**
 * Builds the event fields for a new public address. Returns an empty list if the address is hidden, because the dummy
 * address does not change.
 */
function ofPublicAddress(user: UserDetails, realm: ServerContext['realm']): JsonObject[] {
  if (!isPublicAddress(user)) return [];
  const shown = shownAddress(user, realm);
  const address = { new_email: shown };
  if (!hasPublicProviderPicture(user)) return [address];
  return [address, writeNewPicture(shown, user)];
}

/** Returns whether the avatar is the provider's picture for the user's public address. */
function hasPublicProviderPicture(user: UserDetails): boolean {
  return user.avatarUrl === undefined && isPublicAddress(user);
}
