import { ProtocolError } from '@waxwing/protocol';

/** The refusal for a queue that is not there, or not the requester's, which look alike. */
export function badEventQueue(queueId: string): ProtocolError {
  return new ProtocolError('BAD_EVENT_QUEUE_ID', {
    message: `Bad event queue ID: ${queueId}`,
    fields: { queue_id: queueId },
  });
}
