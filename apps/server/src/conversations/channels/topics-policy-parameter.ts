import { oneOf } from '../../people/realm/setting-shapes.js';
import { topicsPolicies } from './channel-store.js';

/** Parameter for a channel's policy for the unnamed topic, plain or as JSON. */
export const topicsPolicyParameter = oneOf(topicsPolicies);
