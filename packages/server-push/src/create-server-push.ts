import { createRequire } from 'node:module';
import type { PushDeviceStateOnWire, UserId } from '@waxwing/protocol';
import { type BoundOperation, bindOperations } from '@waxwing/service/http';
import type { Kysely } from 'kysely';
import type { Dispatcher } from 'undici';
import { KeyListCache } from './key-list/key-list-cache.js';
import {
  deliverNotificationHandler,
  deliverNotificationJob,
  enqueueNotification,
  type QueuedNotification,
} from './notifications/deliver-notification.js';
import { type NotificationReach, notificationReach } from './notifications/notification-reach.js';
import { NotificationSender } from './notifications/notification-sender.js';
import { OneAtATime } from './one-at-a-time.js';
import { serverPushOperations } from './operations.js';
import { schedulePushCleanUp } from './push-clean-up.js';
import { scheduleFailureOfLongPending } from './push-devices/fail-long-pending.js';
import {
  forwardFurtherRegistrationJob,
  forwardRegistrationJob,
  handleForwarding,
} from './push-devices/forward-registration.js';
import { pushDevicesOf } from './push-devices/push-device-store.js';
import { RegistrationIntake } from './push-devices/registration-intake.js';
import { removeRelayDevicesHandler, removeRelayDevicesJob } from './push-devices/remove-relay-devices.js';
import { GroupedRegistrations } from './relay-link/grouped-registrations.js';
import { LinkMonitor } from './relay-link/link-monitor.js';
import { RelayLink } from './relay-link/relay-link.js';
import type { ServerPushOptions } from './server-push-options.js';
import type { PushTransaction, ServerPushTables } from './tables.js';

/** The server's half of encrypted push, to be mounted in a chat server. */
export interface ServerPush {
  readonly operations: readonly BoundOperation[];
  /**
   * `push_devices` of the register answer: decimal `push_account_id` -> `{status, error_code}`, as `db` has them where it
   * is given.
   */
  pushDevicesOf(
    userId: UserId,
    db?: Kysely<ServerPushTables>,
  ): Promise<Record<string, PushDeviceStateOnWire>>;
  /** Adds a notification to what is to be sent, within the transaction of what it tells of. */
  notify(transaction: PushTransaction, notification: QueuedNotification): Promise<void>;
  /**
   * As `notify`, in a transaction of its own, and says to how many devices it goes; it is queued only where it goes to
   * any.
   */
  send(notification: QueuedNotification): Promise<NotificationReach>;
  /** Ends the connections to the relay, and what still waits for an answer; call it once no job runs any more. */
  close(): Promise<void>;
}

// Fifty a second of each kind: as much as a relay that has just come back takes from each of its servers with ease.
const recoverySpacingMilliseconds = 20;
const defaultRelayTimeoutMilliseconds = 15_000;
const maximumRelayConnections = 16;

/** Call it before the database's jobs are started: it says who does its jobs. */
export function createServerPush<Tables extends ServerPushTables>(
  options: ServerPushOptions<Tables>,
): ServerPush;
// Push touches its own tables alone, and gives back the transactions of the server's whole database.
export function createServerPush(options: ServerPushOptions): ServerPush {
  const { database, clock, random, publish } = options;
  const { link, closeLink } = createLink(options);
  const sender = link && new NotificationSender({ ...options, link });
  const registrations = link && new GroupedRegistrations(link, clock);
  handleForwarding({ database, registrations, publish, clock, random });
  database.jobs.handle(
    deliverNotificationJob,
    deliverNotificationHandler({ database, sender, clock, random, isWanted: options.isWanted }),
  );
  database.jobs.handle(removeRelayDevicesJob, removeRelayDevicesHandler({ database, link, clock, random }));
  scheduleFailureOfLongPending(options);
  schedulePushCleanUp(options);
  const context = {
    ...options,
    sender,
    registering: new RegistrationIntake(options),
    testing: new OneAtATime(),
    keyList: link && new KeyListCache(link, clock),
  };
  return {
    operations: bindOperations(context, serverPushOperations),
    pushDevicesOf: (userId, db = database.db) => pushDevicesOf(db, userId),
    notify: (transaction, notification) => enqueueNotification(database, transaction, notification),
    send: (notification) => sendNotification(options, notification),
    close: closeLink,
  };
}

function sendNotification(
  { database, relay }: Pick<ServerPushOptions, 'database' | 'relay'>,
  notification: QueuedNotification,
): Promise<NotificationReach> {
  return database.write(async (transaction) => {
    const reach = await notificationReach(transaction, relay, notification.userId);
    if (reach.kind === 'devices') await enqueueNotification(database, transaction, notification);
    return reach;
  });
}

/** The way to the relay, and how it is closed; no way where no relay is configured, and nothing is loaded for it. */
function createLink(options: ServerPushOptions): { link?: RelayLink; closeLink: () => Promise<void> } {
  const { relay, realm, clock, relayTimeoutMilliseconds } = options;
  if (relay.kind === 'not-configured') return { closeLink: async () => undefined };
  const dispatcher = options.dispatcher ?? newDispatcher();
  const link = new RelayLink({
    relay,
    realmUuid: realm.uuid,
    dispatcher,
    timeoutMilliseconds: relayTimeoutMilliseconds ?? defaultRelayTimeoutMilliseconds,
    clock,
    monitor: new LinkMonitor({ ...options, onRecovery: () => bringWaitingForward(options) }),
  });
  const closeLink = async () => {
    if (options.dispatcher === undefined) await dispatcher.destroy();
  };
  return { link, closeLink };
}

function newDispatcher(): Dispatcher {
  const { Agent }: typeof import('undici') = createRequire(import.meta.url)('undici');
  return new Agent({ connections: maximumRelayConnections });
}

/** Removals are left where they are: they are put off on purpose. */
async function bringWaitingForward({ database }: Pick<ServerPushOptions, 'database'>): Promise<void> {
  for (const kind of [deliverNotificationJob, forwardRegistrationJob, forwardFurtherRegistrationJob]) {
    await database.jobs.bringForward(kind, recoverySpacingMilliseconds);
  }
}
