import {
  maximumRegistrationsOfUser,
  type PushAccountIdText,
  type TokenId,
  type UserId,
} from '@waxwing/protocol';
import { amongNumbersOf, fixedQuery } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { noOthers, type OtherRegistrations } from '../registrations/same-token.js';
import type { ServerPushTables } from '../tables.js';

/** The user and the name of a registration. The name is a push account id or a token id. */
interface NamedRegistration {
  readonly userId: UserId;
  readonly own: PushAccountIdText | TokenId;
}

/**
 * Reads the other registrations of each registration's user, in the order of `registrations`. Returns at most the
 * newest 100 of each generation.
 */
export async function otherRegistrations(
  db: Kysely<ServerPushTables>,
  registrations: readonly (NamedRegistration | undefined)[],
): Promise<readonly OtherRegistrations[]> {
  const ids = new Set(registrations.flatMap((each) => each?.userId ?? []));
  if (ids.size === 0) return [];
  const users = JSON.stringify([...ids]);
  const accounts = newestOfUsers(await accountsOf(db, { users }));
  const tokenIds = newestOfUsers(await tokenIdsOf(db, { users }));
  return registrations.map((each) => {
    if (each === undefined) return noOthers;
    const { userId, own } = each;
    return {
      accountsOfUser: (accounts.get(userId) ?? []).filter((account) => account !== own),
      tokenIdsOfUser: (tokenIds.get(userId) ?? []).filter((tokenId) => tokenId !== own),
    };
  });
}

interface NameOfUser<Name> {
  readonly user_id: UserId;
  readonly name: Name;
}

/** Groups names by user. Keeps the first 100 distinct names of each user. */
function newestOfUsers<Name>(rows: readonly NameOfUser<Name>[]): ReadonlyMap<UserId, readonly Name[]> {
  const names = new Map<UserId, Name[]>();
  for (const { user_id: userId, name } of rows) {
    const ofUser = names.get(userId) ?? [];
    names.set(userId, ofUser);
    if (ofUser.length < maximumRegistrationsOfUser && !ofUser.includes(name)) ofUser.push(name);
  }
  return names;
}

const accountsOf = fixedQuery<ServerPushTables, { readonly users: string }, NameOfUser<PushAccountIdText>>(
  (db, parameter) =>
    db
      .selectFrom('push_devices')
      .select(['user_id', 'push_account_id as name'])
      .where('user_id', 'in', amongNumbersOf<ServerPushTables, UserId>(db, parameter('users')))
      .orderBy('id', 'desc'),
);

/** Reads the ids of active and pending tokens. */
const tokenIdsOf = fixedQuery<ServerPushTables, { readonly users: string }, NameOfUser<TokenId>>(
  (db, parameter) => {
    const ofUsers = () =>
      db
        .selectFrom('client_devices')
        .where('user_id', 'in', amongNumbersOf<ServerPushTables, UserId>(db, parameter('users')));
    const active = ofUsers()
      .select(['id', 'user_id', 'push_token_id as name'])
      .where('push_token_id', 'is not', null)
      .$narrowType<{ name: TokenId }>();
    const pending = ofUsers()
      .select(['id', 'user_id', 'pending_push_token_id as name'])
      .where('pending_push_token_id', 'is not', null)
      .where('pending_encrypted_registration', 'is not', null)
      .$narrowType<{ name: TokenId }>();
    return active.unionAll(pending).orderBy('id', 'desc');
  },
);
