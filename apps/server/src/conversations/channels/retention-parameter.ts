import { retentionParameter } from '../../people/realm/retention-days.js';

/** A channel's message retention: days, or a word, plain or as JSON. */
export const channelRetention = retentionParameter({ realm_default: null, unlimited: -1, forever: -1 });
