import { lockExclusive } from '@waxwing/storage';
import type { ServerTransaction } from '../../tables.js';

/**
 * Takes an exclusive lock on groups, organization settings and the state of users until the transaction ends. The lock
 * serializes the checks for group cycles, taken names, the last owner and expected values. Separate locks could
 * deadlock: several writes share a commit, and two commits could take the locks in different orders. For the same
 * reason, a running server calls this function in `writeFirst`, before other writes in the commit lock rows.
 */
export function lockGroups({ db }: ServerTransaction): Promise<void> {
  return lockExclusive(db, 'groups and settings');
}
