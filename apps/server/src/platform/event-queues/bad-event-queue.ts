import { ProtocolError } from '@waxwing/protocol';

/**
 * Returns the error for a queue that does not exist or belongs to another user. Clients must not be able to distinguish
 * the two cases.
 */
export function badEventQueue(queueId: string): ProtocolError {
  return new ProtocolError('BAD_EVENT_QUEUE_ID', {
    message: `Bad event queue ID: ${queueId}`,
    fields: { queue_id: queueId },
  });
}
