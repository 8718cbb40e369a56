import type { UserId } from '@waxwing/protocol';
import type { EncodedJson } from '@waxwing/service/http';
import type { z } from 'zod';
import type { KnownUser } from '../../platform/authentication/credential-store.js';
import type { AskingClient, StateContext } from '../../platform/event-queues/initial-state.js';
import { readProfileData } from '../profile-fields/profile-values.js';
import { type AddressVisibility, type Reader, readsAddress } from './address-visibility.js';
import type { ListedUser } from './listed-user.js';
import { detailsInPieces, type UserDetails } from './user-details.js';
import { type EncodedUserList, entriesOf, joinUsers, type ReaderKind } from './user-list-cache.js';
import { type RecordOptions, type userRecord, writeUnknownUser, writeUser } from './user-record.js';
import { limitedVisibility, seesAllUsers } from './user-visibility.js';
import { readUsersVersion } from './users-version.js';

type ListedUsers = ListedUser[] | EncodedJson<ListedUser[]>;

/** The users that a reader can see, ordered by id. */
interface UserLists {
  readonly realm_users: ListedUsers;
  readonly realm_non_active_users: ListedUsers;
}

/** Lists the users that spectators can see. */
export async function listForSpectator(context: StateContext, client: AskingClient): Promise<UserLists> {
  const { makesAvatars } = client;
  if (!(await seesAllUsers(context.database.db, undefined))) return listSeen(context, undefined, client);
  const { active, inactive } = await listOfKind(context, { role: undefined, makesAvatars });
  return { realm_users: joinUsers(active), realm_non_active_users: joinUsers(inactive) };
}

/** Lists the users that `reader` can see. `own` is the reader's own user, from the same snapshot. */
export async function listForUser(
  context: StateContext,
  reader: KnownUser,
  { own, ...client }: AskingClient & { readonly own: UserDetails },
): Promise<UserLists> {
  const { database, realm } = context;
  const { makesAvatars } = client;
  if (!(await seesAllUsers(database.db, reader))) return listSeen(context, reader, client);
  const { role } = reader;
  const { active, inactive } = await listOfKind(context, { role, makesAvatars });
  // Users can read their own address even if their role cannot. Their own record then differs from the record in the
  // shared list.
  const isOwnDifferent = !readsAddress({ id: anotherId, role }, own);
  const profileDataOf = isOwnDifferent ? await readProfileData(database.db, [own.id]) : undefined;
  const options = { reader, realm, clientMakesAvatars: makesAvatars, profileDataOf };
  const written = isOwnDifferent ? listed(writeUser(own, options)) : undefined;
  // The reader is active, so only the active list contains the reader's own record.
  return { realm_users: joinUsers(active, written), realm_non_active_users: joinUsers(inactive) };
}

/** A placeholder id that no user has. */
const anotherId = 0 as UserId;

/** Returns the encoded list of all users for one kind of reader, from the cache if possible. */
async function listOfKind(context: StateContext, kind: ReaderKind): Promise<EncodedUserList> {
  const { userLists, database } = context;
  const version = await readUsersVersion(database.db);
  const cached = userLists.get(version, kind);
  if (cached !== undefined) return cached;
  const encoded = await encodeAll(context, kind);
  userLists.set(version, kind, encoded);
  return encoded.list;
}

async function encodeAll({ database: { db }, realm, nextTick }: StateContext, kind: ReaderKind) {
  const { role, makesAvatars } = kind;
  const reader = role === undefined ? undefined : { id: anotherId, role };
  const visibilities = new Set<AddressVisibility>();
  const [active, inactive] = [new Encoder(), new Encoder()];
  for await (const users of detailsInPieces(db, undefined)) {
    const options = await recordOptions(db, users, { reader, realm, clientMakesAvatars: makesAvatars });
    for (const { visibility } of users) visibilities.add(visibility);
    const written = users.map((user) => writeUser(user, options));
    active.add(written.filter(({ is_active }) => is_active));
    inactive.add(written.filter(({ is_active }) => !is_active));
    await nextTick();
  }
  return { list: { active, inactive }, visibilities };
}

/** Encodes users in chunks. */
class Encoder {
  readonly chunks: { readonly lastId: number; readonly json: Uint8Array }[] = [];

  add(users: readonly z.input<typeof userRecord>[]): void {
    const last = users.at(-1);
    if (last === undefined) return;
    this.chunks.push({ lastId: last.user_id, json: entriesOf(users.map(listed)) });
  }
}

/** Lists users for a reader who does not see all of them. */
async function listSeen(
  { database: { db }, realm, nextTick }: StateContext,
  reader: Reader,
  { capabilities, makesAvatars }: AskingClient,
): Promise<UserLists> {
  const sees = await limitedVisibility(db, reader);
  const lists = { realm_users: [] as ListedUser[], realm_non_active_users: [] as ListedUser[] };
  // Clients without this capability cannot render messages from unknown users.
  const listsUnknown = reader !== undefined && !capabilities.includes('user_list_incomplete');
  for await (const users of detailsInPieces(db, undefined)) {
    const options = await recordOptions(db, users, { reader, realm, clientMakesAvatars: makesAvatars });
    for (const user of users) {
      const record = sees(user) ? writeUser(user, options) : listsUnknown && writeUnknownUser(user, realm);
      if (record === false) continue;
      lists[record.is_active ? 'realm_users' : 'realm_non_active_users'].push(listed(record));
    }
    await nextTick();
  }
  return lists;
}

async function recordOptions(
  db: StateContext['database']['db'],
  users: readonly UserDetails[],
  options: Omit<RecordOptions, 'profileDataOf'>,
): Promise<RecordOptions> {
  const ids = users.map(({ id }) => id);
  const profileDataOf = options.reader && (await readProfileData(db, ids));
  return { ...options, profileDataOf };
}

function listed({ is_active: _, ...user }: z.input<typeof userRecord>): ListedUser {
  return user;
}
