import type { JsonObject } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { ServerContext } from '../../context.js';
import type { PublishedEvent } from '../../platform/event-queues/publish-events.js';
import { addressKey } from '../../platform/names/address-key.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { memberEvents } from '../groups/member-events.js';
import { type MembershipChange, settleRoleGroups } from '../groups/settle-role-groups.js';
import { readRealmSetting } from '../realm/realm-setting-store.js';
import { isPublicAddress, type Reader, readsAddress, shownAddress } from './address-visibility.js';
import { writeNewPicture } from './avatar.js';
import type { UserChange } from './plan-user-update.js';
import type { UserDetails } from './user-details.js';
import { activeReaders, readVisibility, type Visibility } from './user-visibility.js';

/** Applies a change to a locked user. Returns the user after it and the changes of role groups. */
export async function applyUserChange(
  { db }: ServerTransaction,
  before: UserDetails,
  { userId, fullName, role, email }: UserChange,
  now: number,
): Promise<{ readonly after: UserDetails; readonly memberships: readonly MembershipChange[] }> {
  const changesPicture = email !== undefined && hasPublicProviderPicture(before);
  const avatarVersion = before.avatarVersion + (changesPicture ? 1 : 0);
  const set = {
    ...(fullName === undefined ? {} : { full_name: fullName }),
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

/** A change that was applied, with its results. */
interface ChangedUser {
  readonly change: UserChange;
  readonly after: UserDetails;
  readonly memberships: readonly MembershipChange[];
  readonly realm: ServerContext['realm'];
}

/**
 * The events for a change with their audiences, in order. Only users who can see the changed user, or its address,
 * get the respective fields.
 */
export async function eventsOfUserChange(
  db: Kysely<ServerTables>,
  { change, after, memberships, realm }: ChangedUser,
): Promise<PublishedEvent[]> {
  if (Object.keys(change).length === 1) return [];
  const activeUsers = await activeReaders(db);
  const those = (knows: (reader: NonNullable<Reader>) => boolean) =>
    activeUsers.filter(knows).map(({ id }) => id);
  const sees: Visibility = await readVisibility(db);
  const seeing = those((reader) => sees(reader, after));
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
    const readers = those((reader) => sees(reader, after) && readsAddress(reader, after));
    events.push({ event: update({ delivery_email: email }), audience: readers });
    for (const fields of ofPublicAddress(after, realm)) {
      events.push({ event: update(fields), audience: seeing });
    }
  }
  const all = those(() => true);
  for (const event of memberEvents(memberships)) events.push({ event, audience: all });
  return events;
}

/**
 * The event fields for a new public address. Returns none if the address is hidden, because the dummy address stays.
 */
function ofPublicAddress(user: UserDetails, realm: ServerContext['realm']): JsonObject[] {
  if (!isPublicAddress(user)) return [];
  const shown = shownAddress(user, realm);
  const address = { new_email: shown };
  if (!hasPublicProviderPicture(user)) return [address];
  return [address, writeNewPicture(shown, user)];
}

/** Whether the avatar is the provider's picture for a public address. */
function hasPublicProviderPicture(user: UserDetails): boolean {
  return user.avatarUrl === undefined && isPublicAddress(user);
}
