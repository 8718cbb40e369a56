import { lockExclusive } from '@waxwing/storage';
import type { ServerTransaction } from '../../tables.js';

/**
 * Takes an exclusive lock on groups, organization settings and the state of users until the transaction ends. It
 * serializes checks for group cycles, taken names, the last owner and expected values. One lock for all of these,
 * because writes share a commit: with two locks, they could take them in different orders and deadlock.
 */
export function lockGroups({ db }: ServerTransaction): Promise<void> {
  return lockExclusive(db, 'groups and settings');
}
