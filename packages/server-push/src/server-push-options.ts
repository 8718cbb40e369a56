import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { JsonObject, UserId } from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';
import type { RequestHead } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import type { Sodium } from '@waxwing/sodium';
import type { WriteTransaction } from '@waxwing/storage';
import type { Dispatcher } from 'undici';
import type { RealmPushStatusChange } from './relay-link/realm-push-status.js';
import type { ServerPushTables } from './tables.js';

/** The authenticated user, with the fields that push uses. */
export interface PushActor<Tables = ServerPushTables> {
  readonly userId: UserId;
  /** Bots have no phones, so push refuses their requests. */
  readonly isBot: boolean;
  /**
   * Identifies the sign-in that the request belongs to, for example by the digest of its API key. Devices that the
   * sign-in registered can be removed together with it. At most 255 characters; absent if users have only one key.
   */
  readonly session?: string | undefined;
  /**
   * Locks the user until the transaction ends. Until then, the user cannot be deactivated, and the user's API key
   * cannot be replaced.
   *
   * @throws ProtocolError as `authenticate` does, if either has happened since the request was authenticated.
   */
  readonly lockUser: (transaction: WriteTransaction<Tables>) => Promise<void>;
}

/** The organization that sends notifications. */
export interface PushRealm {
  /** The organization's UUID, which identifies it at the relay. */
  readonly uuid: string;
  /** Absolute, without a trailing slash; at most {@link maximumRealmUrlBytes} bytes. */
  readonly url: string;
  /** Shown in notifications; shortened if a notification is too long. */
  readonly name: string;
}

/** The network path to the relay. By default, a direct connection with Node's trusted certificate authorities. */
export interface RelayNetwork {
  /** Certificates (PEM) of additional certificate authorities to trust when connecting to the relay. */
  readonly authorities?: string | undefined;
  /** Name of the setting for these certificates, for messages. */
  readonly authoritiesSetting?: string;
  /** URL of an HTTP proxy that supports CONNECT. Secret, because it may contain a password. */
  readonly proxyUrl?: Secret<string> | undefined;
  /** Name of the setting for the proxy's URL, for messages. */
  readonly proxySetting?: string;
}

/** The address of the relay and the server's credentials there, or `not-configured` if the organization has no relay. */
export type RelayAccount =
  | {
      readonly kind: 'configured';
      readonly url: string;
      readonly serverId: string;
      readonly serverKey: Secret<string>;
      readonly network?: RelayNetwork | undefined;
    }
  | { readonly kind: 'not-configured' };

/** An event and its audience. */
export interface AddressedEvent {
  readonly event: JsonObject;
  /** User ids. A user whose id occurs twice gets the event only once. */
  readonly audience: readonly UserId[];
}

/**
 * Publishes events to all clients of their audiences, in order, in the transaction that makes the change. Clients must
 * receive the events only if the transaction commits.
 */
export type PublishEvents<Tables = ServerPushTables> = (
  transaction: WriteTransaction<Tables>,
  events: readonly AddressedEvent[],
) => Promise<void>;

/** Dependencies of the server side of push, with all defaults filled in. `Tables` are all tables of the server. */
export interface ServerPushOptions<Tables = ServerPushTables> {
  /** A database whose migrations include {@link serverPushMigrations}. */
  readonly database: DatabaseWithJobs<Tables>;
  /**
   * Authenticates a request by its head, before the body is read, and names the actor with `setActor`.
   *
   * @throws ProtocolError if credentials are missing or invalid.
   */
  readonly authenticate: (head: RequestHead) => Promise<PushActor<Tables>>;
  /** Publishes `push_device` events to the users' clients. */
  readonly publish: PublishEvents<Tables>;
  /**
   * Publishes a change of the push status to all clients of the organization, in the transaction that makes the change:
   * the relay or an admin has switched push on or off, or the relay will switch it off. Default: publishes nothing.
   */
  readonly publishPushStatus?: (
    transaction: WriteTransaction<Tables>,
    change: RealmPushStatusChange,
  ) => Promise<void>;
  /**
   * Returns whether a user should still be notified of a message. Called before each request that delivers a message.
   * Default: always `true`.
   */
  readonly isWanted?: (userId: UserId, messageId: number) => Promise<boolean>;
  readonly relay: RelayAccount;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
  /** Returns Unix milliseconds. */
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** HTTP dispatcher for requests to the relay; default: a pool of 16 connections. */
  readonly dispatcher?: Dispatcher;
  /** Rate limit: registrations forwarded per user and hour; default 60. */
  readonly registrationsPerHour?: number;
  /** Timeout of a request to the relay; default 15 seconds. */
  readonly relayTimeoutMilliseconds?: number;
}
