import { oneOf } from '../../people/realm/setting-shapes.js';
import { topicsPolicies } from './channel-store.js';

/** A channel's policy for topics without a name, plain or as JSON. */
export const topicsPolicyParameter = oneOf(topicsPolicies);
