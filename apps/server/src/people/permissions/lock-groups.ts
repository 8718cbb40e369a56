import { lockExclusive } from '@waxwing/storage';
import type { ServerTransaction } from '../../tables.js';

/**
 * Takes an exclusive lock on groups, organization settings and the state of users until the transaction ends. It
 * serializes checks for group cycles, taken names, the last owner and expected values. These share one lock, because
 * several writes share a commit, and two commits that took separate locks in different orders could deadlock. For the
 * same reason, a running server calls this function in `writeFirst`, before other writes in the commit lock rows.
 */
export function lockGroups({ db }: ServerTransaction): Promise<void> {
  return lockExclusive(db, 'groups and settings');
}
