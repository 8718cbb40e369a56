import { retentionParameter } from '../../people/realm/retention-days.js';

/** Parameter for a channel's message retention: a number of days or a keyword, plain or as JSON. */
export const channelRetention = retentionParameter({ realm_default: null, unlimited: -1, forever: -1 });
