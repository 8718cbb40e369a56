import { ProtocolError } from '@waxwing/protocol';

/** The refusal for a queue that does not exist or belongs to another user. The two must be indistinguishable. */
export function badEventQueue(queueId: string): ProtocolError {
  return new ProtocolError('BAD_EVENT_QUEUE_ID', {
    message: `Bad event queue ID: ${queueId}`,
    fields: { queue_id: queueId },
  });
}
