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

/** The dependencies of the server's operations. Created once, when the server starts. */
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
  /** Default validity of invitation links. */
  readonly invitationValidityMinutes: number;
  /** Whether the server allows web-public channels. The organization must also enable public access. */
  readonly offersWebPublicChannels: boolean;
  readonly addressFailures: AddressFailures;
  /** Bounded queue of password checks. */
  readonly hashQueue: BoundedQueue;
  /** Bounded queue of event-queue registrations. */
  readonly registerQueue: BoundedQueue;
  /** Whether a relay is configured, so that notifications can reach phones. */
  readonly isPushConfigured: boolean;
  /** When this process started, in Unix milliseconds. */
  readonly startedAt: number;
  /** How long `GET /events` waits before it answers with a heartbeat. */
  readonly longPollTimeoutSeconds: number;
}
