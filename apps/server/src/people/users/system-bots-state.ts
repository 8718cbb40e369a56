import { z } from 'zod';
import { initialState, type StateContext } from '../../platform/event-queues/initial-state.js';
import type { Reader } from './address-visibility.js';
import { readSystemBots } from './user-details.js';
import { userRecord, writeUser } from './user-record.js';

/** The initial state of system bots, which send the server's own messages. The user list does not include them. */
export const systemBotsState = initialState({
  eventType: 'realm_user',
  shape: z.object({
    cross_realm_bots: z.array(userRecord.extend({ is_system_bot: z.literal(true) })),
  }),
  fetch: readFor,
  fetchForSpectator: (context) => readFor(context, undefined),
});

async function readFor({ database: { db }, realm }: StateContext, reader: Reader) {
  const bots = await readSystemBots(db);
  const options = { reader, realm, clientMakesAvatars: false, profileDataOf: undefined };
  return {
    // System bots cannot sign in but send messages, so clients must see them as active.
    cross_realm_bots: bots.map((bot) => ({
      ...writeUser({ ...bot, isActive: true }, options),
      is_system_bot: true as const,
    })),
  };
}
