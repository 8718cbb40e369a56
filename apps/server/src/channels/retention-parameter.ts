import { retentionParameter } from '../realm/retention-days.js';

/** How long a channel's messages are kept: days, or a word, bare or as JSON. */
export const channelRetention = retentionParameter({ realm_default: null, unlimited: -1, forever: -1 });
