import { lockExclusive } from '@waxwing/storage';
import type { ServerTransaction } from '../../tables.js';

/**
 * Takes an exclusive lock on groups, organization settings and the state of users until the transaction ends. It
 * serializes checks for group cycles, taken names, the last owner and expected values. All of these share one lock,
 * because several writes share a commit: two commits could take two locks in different orders and deadlock. For the same
 * reason, a running server calls this function in `writeFirst`, before other writes of the commit lock rows.
 */
export function lockGroups({ db }: ServerTransaction): Promise<void> {
  return lockExclusive(db, 'groups and settings');
}
