import type { UserId } from '@waxwing/protocol';
import { keepingRows } from '@waxwing/storage';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { ServerContext } from '../../context.js';
import { roles } from '../../platform/authentication/roles.js';
import { addressKey } from '../../platform/names/address-key.js';
import { nameKey } from '../../platform/names/name-key.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { readRealmSetting } from '../realm/realm-setting-store.js';
import { idOfDummyAddress } from './address-visibility.js';
import type { UserDetails } from './user-details.js';

/** The facts needed by the rules for changing a user. The facts stay valid until the transaction ends. */
export interface UserFacts {
  readonly actor: Pick<UserDetails, 'role' | 'mayChangeAddresses'>;
  readonly target: UserDetails;
  /** Whether the target is the only active human owner. */
  readonly isOnlyOwner: boolean;
  /** Whether names must be unique and another user has the requested name. */
  readonly isNameTaken: boolean;
  /** Whether the requested address belongs to another active user, or has the format of a dummy address. */
  readonly isAddressTaken: boolean;
}

/** Requested values that another user may already have. */
interface AskedOfOthers {
  readonly fullName: string | undefined;
  readonly email: string | undefined;
}

/** Reads the remaining facts about a locked target. The caller must hold the locks on groups, settings and users. */
export async function readUserFacts(
  { db }: ServerTransaction,
  { actor, target, realm }: Pick<UserFacts, 'actor' | 'target'> & Pick<ServerContext, 'realm'>,
  { fullName, email }: AskedOfOthers,
): Promise<UserFacts> {
  return {
    actor,
    target,
    isOnlyOwner: await isOnlyOwner(db, target),
    isNameTaken: fullName !== undefined && (await isNameTaken(db, target.id, fullName)),
    isAddressTaken:
      email !== undefined &&
      (idOfDummyAddress(email, realm) !== undefined || (await isAddressTaken(db, target.id, email))),
  };
}

/** Returns whether a locked user is the only active human owner. */
export async function isOnlyOwner(db: Transaction<ServerTables>, target: UserDetails): Promise<boolean> {
  if (target.role !== roles.owner || !target.isActive || target.isBot) return false;
  const owners = await db
    .selectFrom('users')
    .select('id')
    // Uses a literal, so that SQLite can use the partial index of owners.
    .where('role', '=', sql.lit(roles.owner))
    .where('is_active', '=', 1)
    .where('is_bot', '=', 0)
    .orderBy('id')
    // Takes a shared lock, so that no concurrent transaction removes another owner.
    .modifyEnd(keepingRows(db))
    .execute();
  return owners.every(({ id }) => id === target.id);
}

/** Returns whether names must be unique and a user other than `id` has this name. */
export async function isNameTaken(
  db: Kysely<ServerTables>,
  id: UserId | undefined,
  name: string,
): Promise<boolean> {
  if (!(await readRealmSetting(db, 'require_unique_names'))) return false;
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('name_key', '=', nameKey(name))
    .$if(id !== undefined, (query) => query.where('id', '<>', id as UserId))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns whether an active user other than `id` has the address. */
export async function isAddressTaken(db: Kysely<ServerTables>, id: UserId, email: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('email_lower', '=', addressKey(email))
    .where('is_active', '=', 1)
    .where('id', '<>', id)
    .executeTakeFirst();
  return row !== undefined;
}
