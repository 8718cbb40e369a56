import { serverPushOperations } from '@waxwing/server-push';
import {
  type AnyOperation,
  type BoundOperation,
  bindOperations,
  openApiOperation,
} from '@waxwing/service/http';
import type { ServerContext } from './context.js';
import { deleteEventQueue } from './event-queues/delete-event-queue.js';
import { getEvents } from './event-queues/get-events.js';
import { registerEventQueue } from './event-queues/register-event-queue.js';
import { listUserGroups } from './groups/list-user-groups.js';

/** Every operation of the server's own; {@link serverPushOperations} are mounted beside them. */
const ownOperations: readonly AnyOperation<ServerContext>[] = [
  registerEventQueue,
  getEvents,
  deleteEventQueue,
  listUserGroups,
];

/** Every operation of the server. */
export const serverOperations: readonly AnyOperation[] = [...ownOperations, ...serverPushOperations];

/** What the server's OpenAPI document says of it as a whole. */
export const serverApi = {
  title: 'Waxwing server',
  description: "An organisation's chat API, with end-to-end-encrypted mobile push.",
  version: '1',
};

/** The operations with what they work with. */
export function bindServerOperations(context: ServerContext): BoundOperation[] {
  const own = bindOperations(context, [...ownOperations, openApiOperation(serverApi, serverOperations)]);
  return [...own, ...context.serverPush.operations];
}
