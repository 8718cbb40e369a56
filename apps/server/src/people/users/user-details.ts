import type { UserId } from '@waxwing/protocol';
import { amongNumbersOf, fixedQuery, lockingRows, readPages } from '@waxwing/storage';
import type { Kysely, Selectable } from 'kysely';
import type { Role } from '../../platform/authentication/roles.js';
import { addressKey } from '../../platform/names/address-key.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import {
  type AddressOwner,
  type AddressVisibility,
  type Reader,
  visibilitiesFor,
} from './address-visibility.js';
import { toUser, type User } from './user-store.js';

/** A user or bot, active or deactivated, with all fields of its record. */
export interface UserDetails extends User, AddressOwner {
  readonly isActive: boolean;
  /** Unix milliseconds. */
  readonly joinedAt: number;
  /** IANA name; empty if not set. */
  readonly timezone: string;
  /** URL of an uploaded avatar; `undefined` for the provider's avatar. */
  readonly avatarUrl: string | undefined;
  readonly avatarVersion: number;
  readonly mayChangeAddresses: boolean;
}

type Db = Kysely<ServerTables>;
type DetailsRow = Selectable<ServerTables['users']>;

/** A page of users, ordered by id. */
interface DetailsPage {
  /** `undefined` for all users. */
  readonly ids: readonly UserId[] | undefined;
  readonly after: number;
  readonly limit: number;
}

/** Returns the users with these ids, including system bots, in any order. */
export async function readDetails(db: Db, ids: readonly UserId[]): Promise<UserDetails[]> {
  return (await detailsOf(db, { ids: JSON.stringify(ids) })).map(fromRow);
}

const detailsOf = fixedQuery<ServerTables, { readonly ids: string }, DetailsRow>((db, parameter) =>
  db
    .selectFrom('users')
    .selectAll()
    .where('id', 'in', amongNumbersOf<ServerTables, UserId>(db, parameter('ids'))),
);

async function readDetailsPage(db: Db, { ids, after, limit }: DetailsPage): Promise<UserDetails[]> {
  const page = { after: after as UserId, limit };
  const rows =
    ids === undefined
      ? await pageOfAll(db, page)
      : await pageOfNamed(db, { ...page, ids: JSON.stringify(ids) });
  return rows.map(fromRow);
}

interface Page {
  readonly after: UserId;
  readonly limit: number;
}

const pageOfAll = fixedQuery<ServerTables, Page, DetailsRow>((db, parameter) =>
  db
    .selectFrom('users')
    .selectAll()
    .where('system_bot', 'is', null)
    .where('id', '>', parameter('after'))
    .orderBy('id')
    .limit(parameter('limit')),
);

const pageOfNamed = fixedQuery<ServerTables, Page & { readonly ids: string }, DetailsRow>((db, parameter) =>
  db
    .selectFrom('users')
    .selectAll()
    .where('system_bot', 'is', null)
    .where('id', '>', parameter('after'))
    .where('id', 'in', amongNumbersOf<ServerTables, UserId>(db, parameter('ids')))
    .orderBy('id')
    .limit(parameter('limit')),
);

/** Returns the system bots. Apart from {@link readDetails}, only this function returns them. */
export async function readSystemBots(db: Db): Promise<UserDetails[]> {
  const bots = db.selectFrom('users').selectAll().where('system_bot', 'is not', null);
  return (await bots.orderBy('id').execute()).map(fromRow);
}

/** Page size. Small enough to avoid noticeable delays for other requests. */
const usersPerPiece = 250;

/** Yields pages of users, ordered by id. Yields all users if `ids` is `undefined`. */
export function detailsInPieces(db: Db, ids: readonly UserId[] | undefined): AsyncGenerator<UserDetails[]> {
  return readPages(usersPerPiece, (last) =>
    readDetailsPage(db, { ids, after: last?.id ?? 0, limit: usersPerPiece }),
  );
}

/** A reference to a user: an id, or a real address that the reader can see. */
export type UserName =
  | { readonly kind: 'id'; readonly id: UserId }
  | { readonly kind: 'address'; readonly email: string };

/**
 * Returns the user with this id or address. If several users have had the address, prefers the active user. Returns
 * `undefined` if there is no such user or the reader cannot see the address.
 */
export async function findDetails(db: Db, name: UserName, reader: NonNullable<Reader>) {
  const row = await named(db, name, reader).executeTakeFirst();
  return row && fromRow(row);
}

/** Like {@link findDetails}, but reads the latest state and locks the user until the transaction ends. */
export async function lockDetails({ db }: ServerTransaction, name: UserName, reader: NonNullable<Reader>) {
  const row = await named(db, name, reader).modifyEnd(lockingRows(db)).executeTakeFirst();
  return row && fromRow(row);
}

/** Locks a user's bots whose role is above `role`, including deactivated bots, until the transaction ends. */
export async function lockBotsAbove(
  { db }: ServerTransaction,
  ownerId: UserId,
  role: Role,
): Promise<UserDetails[]> {
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .where('bot_owner_id', '=', ownerId)
    .where('role', '<', role)
    .orderBy('id')
    .modifyEnd(lockingRows(db))
    .execute();
  return rows.map(fromRow);
}

/** Reads the requester's own details. */
export async function ownDetails(db: Db, self: NonNullable<Reader>): Promise<UserDetails> {
  return present(await findDetails(db, { kind: 'id', id: self.id }, self));
}

/** Like {@link ownDetails}, but reads the latest state and locks the requester until the transaction ends. */
export async function lockOwnDetails(
  transaction: ServerTransaction,
  self: NonNullable<Reader>,
): Promise<UserDetails> {
  return present(await lockDetails(transaction, { kind: 'id', id: self.id }, self));
}

function present(own: UserDetails | undefined): UserDetails {
  if (own === undefined) throw new Error('the requester has no row');
  return own;
}

function named(db: Db, name: UserName, { id, role }: NonNullable<Reader>) {
  const all = db.selectFrom('users').selectAll().where('system_bot', 'is', null);
  if (name.kind === 'id') return all.where('id', '=', name.id);
  return all
    .where('email_lower', '=', addressKey(name.email))
    .where((is) =>
      is.or([
        is('id', '=', id),
        is('is_bot', '=', 1),
        is('email_address_visibility', 'in', visibilitiesFor(role)),
      ]),
    )
    .orderBy('is_active', 'desc')
    .orderBy('id', 'desc')
    .limit(1);
}

function fromRow(row: DetailsRow): UserDetails {
  // `Object.assign` is about 100 times as fast as a spread here, which matters when all users are read.
  return Object.assign(toUser(row), {
    isActive: row.is_active === 1,
    joinedAt: row.created_at,
    timezone: row.timezone,
    visibility: row.email_address_visibility as AddressVisibility,
    avatarUrl: row.avatar_url ?? undefined,
    avatarVersion: row.avatar_version,
    mayChangeAddresses: row.can_change_user_emails === 1,
  });
}
