import type { Operation } from '@waxwing/service/http';
import type { ServerContext } from './context.js';
import { deleteEventQueue } from './event-queues/delete-event-queue.js';
import { getEvents } from './event-queues/get-events.js';
import { registerEventQueue } from './event-queues/register-event-queue.js';

/** Every operation of the server. */
export function serverOperations(context: ServerContext): Operation[] {
  return [
    registerEventQueue(context),
    getEvents(context),
    deleteEventQueue(context),
    ...context.serverPush.operations,
  ];
}
