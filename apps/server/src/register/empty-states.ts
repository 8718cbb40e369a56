import { z } from 'zod';
import { type InitialState, publicState } from '../platform/event-queues/initial-state.js';

const list = z.array(z.never());
const map = z.record(z.string(), z.never());

/** Empty initial states of features that clients expect but this server does not support. */
export const emptyStates: readonly InitialState[] = [
  none('alert_words', { alert_words: [] }, { alert_words: list }),
  none('muted_users', { muted_users: [] }, { muted_users: list }),
  none('realm_emoji', { realm_emoji: {} }, { realm_emoji: map }),
  none('realm_filters', { realm_filters: [] }, { realm_filters: list }),
  none('realm_domains', { realm_domains: [] }, { realm_domains: list }),
  none('default_stream_groups', { realm_default_stream_groups: [] }, { realm_default_stream_groups: list }),
  none('realm_bot', { realm_bots: [] }, { realm_bots: list }),
  none('realm_embedded_bots', { realm_embedded_bots: [] }, { realm_embedded_bots: list }),
  none(
    'realm_incoming_webhook_bots',
    { realm_incoming_webhook_bots: [] },
    { realm_incoming_webhook_bots: list },
  ),
  none('user_status', { user_status: {} }, { user_status: map }),
  none(
    'realm_user_settings_defaults',
    { realm_user_settings_defaults: {} },
    { realm_user_settings_defaults: map },
  ),
  none('saved_snippets', { saved_snippets: [] }, { saved_snippets: list }),
  none('drafts', { drafts: [] }, { drafts: list }),
  none('scheduled_messages', { scheduled_messages: [] }, { scheduled_messages: list }),
  none('reminders', { reminders: [] }, { reminders: list }),
  none('navigation_views', { navigation_views: [] }, { navigation_views: list }),
  none('onboarding_steps', { onboarding_steps: [] }, { onboarding_steps: list }),
  none('stop_words', { stop_words: [] }, { stop_words: list }),
  none(
    'video_calls',
    { has_zoom_token: false, has_webex_token: false },
    { has_zoom_token: z.boolean(), has_webex_token: z.boolean() },
  ),
  none('giphy', { giphy_api_key: '' }, { giphy_api_key: z.string() }),
  none('tenor', { tenor_api_key: '' }, { tenor_api_key: z.string() }),
  none('klipy', { klipy_api_key: '' }, { klipy_api_key: z.string() }),
  none('realm_billing', { realm_billing: {} }, { realm_billing: map }),
];

function none<Shape extends z.ZodRawShape>(
  eventType: string,
  fields: z.input<z.ZodObject<Shape>>,
  shape: Shape,
): InitialState {
  return publicState({ eventType, shape: z.object(shape) as z.ZodObject, fetch: async () => fields });
}
