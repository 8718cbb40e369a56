import { oneOf } from '../realm/setting-shapes.js';
import { topicsPolicies } from './channel-store.js';

/** What a channel says of topics without a name, bare or as JSON. */
export const topicsPolicyParameter = oneOf(topicsPolicies);
