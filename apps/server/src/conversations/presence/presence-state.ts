import { publicState } from '../../platform/event-queues/initial-state.js';
import { noPresences, presenceShape } from './update-presence.js';

/** The presence state. It is always empty, because the server does not support presence. */
export const presenceState = publicState({
  eventType: 'presence',
  shape: presenceShape,
  fetch: async ({ clock }) => ({ ...noPresences, server_timestamp: clock() / 1000 }),
});
