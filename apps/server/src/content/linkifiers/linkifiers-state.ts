import { z } from 'zod';
import { publicState } from '../../platform/event-queues/initial-state.js';
import { linkifierRecord, readLinkifiers } from './linkifier-store.js';

/** The linkifiers, in the order in which they are applied. Empty for clients without `linkifier_url_template`. */
export const linkifiersState = publicState({
  eventType: 'realm_linkifiers',
  shape: z.object({ realm_linkifiers: z.array(linkifierRecord) }),
  fetch: async ({ database }, { capabilities }) => ({
    realm_linkifiers: capabilities.includes('linkifier_url_template')
      ? await readLinkifiers(database.db)
      : [],
  }),
});
