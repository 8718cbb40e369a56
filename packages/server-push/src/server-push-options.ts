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

/** The authenticated user, with the fields that push needs. */
export interface PushActor<Tables = ServerPushTables> {
  readonly userId: UserId;
  /** Bots have no phones: push refuses them. */
  readonly isBot: boolean;
  /**
   * Names the sign-in that the request belongs to, such as the digest of its API key. The devices that it registers can
   * be removed together with it. At most 255 characters; absent if users have a single key.
   */
  readonly session?: string | undefined;
  /**
   * Locks the user until the transaction ends, so that they cannot be deactivated or given another API key.
   *
   * @throws ProtocolError as `authenticate` does, if one of these has happened since.
   */
  readonly lockUser: (transaction: WriteTransaction<Tables>) => Promise<void>;
}

/** The organization that sends notifications. */
export interface PushRealm {
  /** The organization's UUID, which identifies it at the relay. */
  readonly uuid: string;
  /** Absolute, without a trailing slash; at most {@link maximumRealmUrlBytes} bytes. */
  readonly url: string;
  /** Shown with notifications; shortened if a notification is too long. */
  readonly name: string;
}

/** The network path to the relay. Default: a direct connection, with the authorities that Node trusts. */
export interface RelayNetwork {
  /** Certificates (PEM) of additional authorities that may vouch for the relay. */
  readonly authorities?: string | undefined;
  /** Name of the setting that holds them, for messages. */
  readonly authoritiesSetting?: string;
  /** URL of an HTTP proxy that opens tunnels; secret, because it may hold a password. */
  readonly proxyUrl?: Secret<string> | undefined;
  /** Name of the setting that holds the proxy's URL, for messages. */
  readonly proxySetting?: string;
}

/** Address and credentials for the relay, or the information that the organization has none. */
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
  /** User ids; duplicates get the event once. */
  readonly audience: readonly UserId[];
}

/**
 * Publishes events to all clients of their audiences, in order, in the transaction of the change. Clients must receive
 * the events only if it commits.
 */
export type PublishEvents<Tables = ServerPushTables> = (
  transaction: WriteTransaction<Tables>,
  events: readonly AddressedEvent[],
) => Promise<void>;

/** Dependencies of the server's half of push, with every default filled in; `Tables` are all tables of the server. */
export interface ServerPushOptions<Tables = ServerPushTables> {
  /** Opened with {@link serverPushMigrations} among its migrations. */
  readonly database: DatabaseWithJobs<Tables>;
  /**
   * Authenticates a request by its head, before the body is read, and names the actor with `setActor`.
   *
   * @throws ProtocolError for missing or invalid credentials.
   */
  readonly authenticate: (head: RequestHead) => Promise<PushActor<Tables>>;
  /** Publishes `push_device` events to the users' clients. */
  readonly publish: PublishEvents<Tables>;
  /**
   * Publishes to all clients of the organization that push was switched on or off, by the relay or by an admin, or that
   * the relay will switch it off, in the transaction of the change. Default: publishes nothing.
   */
  readonly publishPushStatus?: (
    transaction: WriteTransaction<Tables>,
    change: RealmPushStatusChange,
  ) => Promise<void>;
  /**
   * Whether a queued message should still be shown to a user; called before each request to the relay. Default: always
   * `true`.
   */
  readonly isWanted?: (userId: UserId, messageId: number) => Promise<boolean>;
  readonly relay: RelayAccount;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
  /** Returns Unix milliseconds. */
  readonly clock: Clock;
  /** Random number in [0, 1). */
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
