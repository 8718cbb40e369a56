import type { PushRealm, ServerPush } from '@waxwing/server-push';
import type { BoundedQueue } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { KnownLinkifiers } from './content/linkifiers/known-linkifiers.js';
import type { Uploads } from './content/uploads/uploads.js';
import type { AddressFailures } from './membership/sign-in/address-failures.js';
import type { UserListCache } from './people/users/user-list-cache.js';
import type { ServerPublish } from './platform/event-queues/published-event.js';
import type { QueueListeners } from './platform/event-queues/queue-listeners.js';
import type { ServerDatabase } from './tables.js';

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
  readonly userLists: UserListCache;
  /** When this process started, in Unix milliseconds. */
  readonly startedAt: number;
  /** How long `GET /events` waits before it responds with a heartbeat. */
  readonly longPollTimeoutSeconds: number;
}
