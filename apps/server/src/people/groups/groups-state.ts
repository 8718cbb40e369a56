import { encodePages } from '@waxwing/service/http';
import { z } from 'zod';
import { publicState } from '../../platform/event-queues/initial-state.js';
import { groupRecord, writeGroup } from './group-record.js';
import { groupPages } from './group-store.js';

/** The groups of the organization. Includes deactivated groups for clients with the capability. */
export const groupsState = publicState({
  eventType: 'realm_user_groups',
  shape: z.object({ realm_user_groups: z.array(groupRecord) }),
  async fetch({ database }, { capabilities }) {
    const includesDeactivated = capabilities.includes('include_deactivated_groups');
    return {
      realm_user_groups: await encodePages(groupPages(database.db, { includesDeactivated }), writeGroup),
    };
  },
});
