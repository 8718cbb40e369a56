import type { PushRealm, ServerPush } from '@waxwing/server-push';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { ServerPublish } from './event-queues/publish-events.js';
import type { QueueListeners } from './event-queues/queue-listeners.js';
import type { ServerDatabase } from './tables.js';

/** What the server's operations work with; made once, when the server starts. */
export interface ServerContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly database: ServerDatabase;
  readonly realm: PushRealm;
  readonly queueListeners: QueueListeners;
  readonly publish: ServerPublish;
  readonly serverPush: ServerPush;
  /** How long `GET /events` waits before it answers with a heartbeat. */
  readonly longPollTimeoutSeconds: number;
}
