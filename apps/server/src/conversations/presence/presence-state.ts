import { publicState } from '../../platform/event-queues/initial-state.js';
import { noPresences, presenceShape } from './update-presence.js';

/** An empty presence state: presence is unsupported. */
export const presenceState = publicState({
  eventType: 'presence',
  shape: presenceShape,
  fetch: async ({ clock }) => ({ ...noPresences, server_timestamp: clock() / 1000 }),
});
