import { z } from 'zod';
import { initialState } from '../event-queues/initial-state.js';
import { realmLimits } from './realm-limits.js';

/** What is known of the organisation itself. */
export const realmState = initialState({
  eventType: 'realm',
  shape: z.object({
    realm_uuid: z.string(),
    realm_name: z.string(),
    realm_url: z.string(),
    max_topic_length: z.number().int(),
    max_message_length: z.number().int(),
    max_stream_name_length: z.number().int(),
    max_stream_description_length: z.number().int(),
    realm_empty_topic_display_name: z.string(),
  }),
  fetch: async ({ realm: { name, url, uuid } }) => ({
    realm_uuid: uuid,
    realm_name: name,
    realm_url: url,
    ...realmLimits,
  }),
});
