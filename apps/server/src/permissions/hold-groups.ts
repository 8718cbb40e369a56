import { holdAlone } from '@waxwing/storage';
import type { ServerTransaction } from '../tables.js';

/**
 * Waits until nobody else changes groups or settings of the organisation, and holds that until the transaction ends: what
 * would make a circle, has a name already or is as expected is decided by one at a time. It is one lock for both, so that
 * writes that are committed together cannot take two in different orders.
 */
export function holdGroups({ db }: ServerTransaction): Promise<void> {
  return holdAlone(db, 'groups and settings');
}
