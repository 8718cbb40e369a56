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
import type { ServerPushTables } from './tables.js';

/** The authenticated requester, as far as push needs to know. */
export interface PushActor<Tables = ServerPushTables> {
  readonly userId: UserId;
  readonly isBot: boolean;
  /**
   * Keeps the requester from being removed, and from being given another key, until the transaction ends.
   * @throws ProtocolError as `authenticate` does when that has happened since.
   */
  readonly hold: (transaction: WriteTransaction<Tables>) => Promise<void>;
}

/** The organisation that notifications come from. */
export interface PushRealm {
  readonly uuid: string;
  /** Absolute, without a trailing slash; at most {@link maximumRealmUrlBytes} bytes. */
  readonly url: string;
  readonly name: string;
}

/** Where the relay is and who we are to it, or that the organisation has none. */
export type RelayAccount =
  | {
      readonly kind: 'configured';
      readonly url: string;
      readonly serverId: string;
      readonly serverKey: Secret<string>;
    }
  | { readonly kind: 'not-configured' };

/** An event, and the users whose clients are told of it. */
export interface AddressedEvent {
  readonly event: JsonObject;
  /** Ids of users; one that is there twice is told once. */
  readonly audience: readonly UserId[];
}

/** Hands events to all clients of their audiences, in that order, within the transaction of the change they tell of. */
export type PublishEvents<Tables = ServerPushTables> = (
  transaction: WriteTransaction<Tables>,
  events: readonly AddressedEvent[],
) => Promise<void>;

/** What a chat server gives to have encrypted push; `Tables` are all of its own. */
export interface ServerPushOptions<Tables = ServerPushTables> {
  /** Opened with {@link serverPushMigrations} among its migrations. */
  readonly database: DatabaseWithJobs<Tables>;
  /**
   * Who asks, asked before the body is read; it names the actor with `setActor`. @throws ProtocolError when nobody does
   * whom the server knows.
   */
  readonly authenticate: (head: RequestHead) => Promise<PushActor<Tables>>;
  readonly publish: PublishEvents<Tables>;
  /** Whether a user should still be told of a message that waits to be delivered; always where nothing is given. */
  readonly isWanted?: (userId: UserId, messageId: number) => Promise<boolean>;
  readonly relay: RelayAccount;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
  readonly clock: Clock;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How requests reach the relay; a connection pool of our own where nothing is given. */
  readonly dispatcher?: Dispatcher;
  /** Registrations that each user may have forwarded in an hour; 60 where nothing is said. */
  readonly registrationsPerHour?: number;
  /** Longest time that the relay may take to answer; 15 seconds where nothing is said. */
  readonly relayTimeoutMilliseconds?: number;
}
