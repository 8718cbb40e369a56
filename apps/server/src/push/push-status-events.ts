import type { RealmPushStatusChange } from '@waxwing/server-push';
import type { PublishedEvent } from '../platform/event-queues/published-event.js';

/**
 * Builds the events for a change of the push status (whether notifications are sent, and until when). Returns one event
 * per changed field.
 */
export function pushStatusEvents({ canPush, endTimestamp }: RealmPushStatusChange): PublishedEvent[] {
  const values = {
    push_notifications_enabled: canPush,
    push_notifications_enabled_end_timestamp: endTimestamp,
  };
  return Object.entries(values).flatMap(([property, value]): PublishedEvent[] => {
    if (value === undefined) return [];
    return [{ event: { type: 'realm', op: 'update', property, value }, audience: 'everyone' }];
  });
}
