import { z } from 'zod';
import { publicState } from '../../platform/event-queues/initial-state.js';
import { playgroundRecord, readPlaygrounds } from './playground-store.js';

/** The playgrounds: web pages that each run code in one language. */
export const playgroundsState = publicState({
  eventType: 'realm_playgrounds',
  shape: z.object({ realm_playgrounds: z.array(playgroundRecord) }),
  fetch: async ({ database }) => ({ realm_playgrounds: await readPlaygrounds(database.db) }),
});
