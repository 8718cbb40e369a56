import type { Clock } from '@waxwing/service/lifecycle';
import { createPublisher } from '../../platform/event-queues/publish-events.js';
import { queueNotifier } from '../../platform/event-queues/queue-listeners.js';
import type { ServerDatabase } from '../../tables.js';
import type { AccessContext } from './end-access.js';

/** Creates the context for commands that change users. Servers may be running on the same database. */
export function commandContext(database: ServerDatabase, clock: Clock): AccessContext {
  return { clock, database, publish: createPublisher(queueNotifier(database.signals), clock) };
}
