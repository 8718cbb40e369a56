import type { KnownUser } from '../../platform/authentication/credential-store.js';
import { isAdministrator } from '../../platform/authentication/require-administrator.js';
import type { ServerTransaction } from '../../tables.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import { noSuchUser } from './no-such-user.js';
import { findDetails, lockDetails, type UserDetails, type UserName } from './user-details.js';

/** The acting administrator and the target user, who is locked until the transaction ends. */
export interface Both {
  readonly administrator: UserDetails;
  readonly target: UserDetails;
}

/**
 * Reads the administrator and locks the target user. Checks the actor's role first, so that users who are not
 * administrators cannot probe for addresses.
 * @throws ProtocolError BAD_REQUEST if the actor is not an administrator or the target is unknown.
 */
export async function lockBoth(
  transaction: ServerTransaction,
  locked: KnownUser,
  name: UserName,
): Promise<Both> {
  if (!isAdministrator(locked.role)) {
    throw insufficientPermission();
  }
  const administrator = await findDetails(transaction.db, { kind: 'id', id: locked.id }, locked);
  const target = await lockDetails(transaction, name, locked);
  if (administrator === undefined || target === undefined) throw noSuchUser();
  return { administrator, target };
}
