import type { PushRealm, ServerPush } from '@waxwing/server-push';
import type { BoundedQueue } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { ServerPublish } from './event-queues/publish-events.js';
import type { QueueListeners } from './event-queues/queue-listeners.js';
import type { KnownLinkifiers } from './linkifiers/known-linkifiers.js';
import type { AddressFailures } from './sign-in/address-failures.js';
import type { ServerDatabase } from './tables.js';
import type { Uploads } from './uploads/uploads.js';

/** What the server's operations work with; made once, when the server starts. */
export interface ServerContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly database: ServerDatabase;
  readonly realm: PushRealm;
  readonly queueListeners: QueueListeners;
  readonly publish: ServerPublish;
  readonly serverPush: ServerPush;
  readonly uploads: Uploads;
  readonly linkifiers: KnownLinkifiers;
  /** Of a link for which nothing is said. */
  readonly invitationValidityMinutes: number;
  /** Whether the server lets channels be web-public; the organisation has to agree. */
  readonly offersWebPublicChannels: boolean;
  readonly addressFailures: AddressFailures;
  /** Where passwords wait to be checked. */
  readonly hashLine: BoundedQueue;
  /** Where those wait who register an event queue. */
  readonly registerLine: BoundedQueue;
  /** Whether notifications reach phones: a relay is configured. */
  readonly isPushConfigured: boolean;
  /** When this process began; Unix milliseconds. */
  readonly startedAt: number;
  /** How long `GET /events` waits before it answers with a heartbeat. */
  readonly longPollTimeoutSeconds: number;
}
