import type { KnownUser } from '../authentication/credential-store.js';
import { isAdministrator } from '../authentication/require-administrator.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import type { ServerTransaction } from '../tables.js';
import { noSuchUser } from './no-such-user.js';
import { findDetails, lockDetails, type UserDetails, type UserName } from './user-details.js';

/** Who administers a user, and the user, whom nobody else changes until the transaction ends. */
export interface Both {
  readonly administrator: UserDetails;
  readonly target: UserDetails;
}

/**
 * Nothing is looked up for whoever is no administrator, so that it learns nothing about addresses.
 * @throws ProtocolError BAD_REQUEST for whoever is no administrator, and for unknown users.
 */
export async function lockBoth(
  transaction: ServerTransaction,
  held: KnownUser,
  name: UserName,
): Promise<Both> {
  if (!isAdministrator(held.role)) {
    throw insufficientPermission();
  }
  const administrator = await findDetails(transaction.db, { kind: 'id', id: held.id }, held);
  const target = await lockDetails(transaction, name, held);
  if (administrator === undefined || target === undefined) throw noSuchUser();
  return { administrator, target };
}
