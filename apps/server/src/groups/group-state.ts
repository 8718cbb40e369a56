import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { ServerTables } from '../tables.js';
import { groupRecord, writeGroup } from './group-record.js';
import { listGroups } from './group-store.js';

/** The groups, as clients are told of them when they begin. */
export const groupState = {
  eventType: 'realm_user_groups',
  answer: z.object({ realm_user_groups: z.array(groupRecord) }),
  async fetch(
    db: Kysely<ServerTables>,
    { includesDeactivatedGroups }: { readonly includesDeactivatedGroups: boolean },
  ) {
    const groups = await listGroups(db, { includesDeactivated: includesDeactivatedGroups });
    return { realm_user_groups: groups.map(writeGroup) };
  },
};
