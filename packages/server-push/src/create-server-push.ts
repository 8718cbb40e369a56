import { createRequire } from 'node:module';
import type { ClientDeviceOnWire, PushDeviceStateOnWire, UserId } from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';
import { type BoundOperation, bindOperations } from '@waxwing/service/http';
import type { Kysely } from 'kysely';
import type { Dispatcher } from 'undici';
import { ClientDeviceIntake } from './client-devices/client-device-intake.js';
import { clientDevicesOf } from './client-devices/client-device-store.js';
import { failingTokens } from './client-devices/fail-long-pending.js';
import {
  forwardFurtherTokenJob,
  forwardTokenJob,
  handleTokenForwarding,
} from './client-devices/forward-token.js';
import { tokenRemoving } from './client-devices/remove-tokens.js';
import { repairTakenAgain } from './client-devices/taken-again.js';
import { tokenFormat } from './client-devices/token-format.js';
import { removingUnrenewedTokens } from './client-devices/unrenewed-tokens.js';
import { KeyListCache } from './key-list/key-list-cache.js';
import {
  deliverNotificationHandler,
  deliverNotificationJob,
  enqueueNotification,
  type QueuedNotification,
} from './notifications/deliver-notification.js';
import { DeliveryResults } from './notifications/delivery-results.js';
import { type NotificationReach, notificationReach } from './notifications/notification-reach.js';
import { NotificationSender } from './notifications/notification-sender.js';
import { OneAtATime } from './one-at-a-time.js';
import { serverPushOperations } from './operations.js';
import { schedulePushCleanUp } from './push-clean-up.js';
import { failingPushDevices } from './push-devices/fail-long-pending.js';
import {
  forwardFurtherRegistrationJob,
  forwardRegistrationJob,
  handleForwarding,
} from './push-devices/forward-registration.js';
import { pushAccountFormat } from './push-devices/push-account-format.js';
import { pushDevicesOf } from './push-devices/push-device-store.js';
import { RegistrationIntake } from './push-devices/registration-intake.js';
import { relayDeviceRemoving } from './push-devices/remove-relay-devices.js';
import { removingUnrenewedPushDevices } from './push-devices/remove-unrenewed.js';
import { scheduleFailureOfLongPending } from './registrations/fail-long-pending.js';
import { handleRemovalJobs } from './registrations/removal-jobs.js';
import { scheduleRemovalOfUnrenewed } from './registrations/remove-unrenewed.js';
import { GroupedRegistrations } from './relay-link/grouped-registrations.js';
import { LinkMonitor } from './relay-link/link-monitor.js';
import { RelayLink } from './relay-link/relay-link.js';
import { handleRevocations } from './revocations/forward-revocation.js';
import type { ServerPushOptions } from './server-push-options.js';
import type { PushTransaction, ServerPushTables } from './tables.js';

/** The server's half of encrypted push, to be mounted in a chat server. */
export interface ServerPush {
  /** HTTP operations to mount in the server's app. */
  readonly operations: readonly BoundOperation[];
  /**
   * The `push_devices` field of an event queue's first answer: maps each decimal `push_account_id` to `{status,
   * error_code}`. Pass `db` to read inside a transaction; the default is the server's database.
   */
  pushDevicesOf(
    userId: UserId,
    db?: Kysely<ServerPushTables>,
  ): Promise<Record<string, PushDeviceStateOnWire>>;
  /** The `devices` field of an event queue's first answer: maps each decimal device id to its state. */
  clientDevicesOf(userId: UserId, db?: Kysely<ServerPushTables>): Promise<Record<string, ClientDeviceOnWire>>;
  /**
   * Enqueues a notification to all devices of one user, in the transaction of the change it reports. It is sent only
   * if that transaction commits.
   */
  notify(transaction: PushTransaction, notification: QueuedNotification): Promise<void>;
  /**
   * Like `notify`, in a transaction of its own. Returns how many devices it will reach. Enqueues nothing if there is
   * none.
   */
  send(notification: QueuedNotification): Promise<NotificationReach>;
  /** Replaces the key by which the relay knows this server, from the next request on. */
  useServerKey(serverKey: Secret<string>): void;
  /**
   * Closes the connections to the relay and aborts requests in flight. Call it after the last job has ended. Leaves a
   * `dispatcher` from the options open.
   */
  close(): Promise<void>;
}

// 50 jobs per second and kind. A relay that has just recovered can easily take that from each of its servers.
const recoverySpacingMilliseconds = 20;
const defaultRelayTimeoutMilliseconds = 15_000;
const maximumRelayConnections = 16;

/**
 * Creates the server's half of encrypted push and registers its job handlers. Call it before the database's jobs
 * start.
 */
export function createServerPush<Tables extends ServerPushTables>(
  options: ServerPushOptions<Tables>,
): ServerPush;
// Push uses only its own tables, but its callbacks receive transactions of the server's whole database.
export function createServerPush(options: ServerPushOptions): ServerPush {
  const { database, clock, random, publish } = options;
  const { link, closeLink } = createLink(options);
  const results = new DeliveryResults(options);
  const sender = link && new NotificationSender({ ...options, link, results });
  handleForwarding({
    ...{ database, publish, clock, random },
    registrations: link && new GroupedRegistrations(link, pushAccountFormat, clock),
  });
  handleTokenForwarding({
    ...{ database, publish, clock, random },
    registrations: link && new GroupedRegistrations(link, tokenFormat, clock),
  });
  database.jobs.handle(
    deliverNotificationJob,
    deliverNotificationHandler({ database, sender, clock, random, isWanted: options.isWanted }),
  );
  handleRemovalJobs({ database, link, clock, random }, relayDeviceRemoving);
  handleRemovalJobs({ database, link, clock, random }, tokenRemoving, (transaction, removed) =>
    repairTakenAgain(options, transaction, removed),
  );
  handleRevocations({ database, link, clock, random });
  scheduleFailureOfLongPending(options, failingPushDevices);
  scheduleFailureOfLongPending(options, failingTokens);
  scheduleRemovalOfUnrenewed(options, removingUnrenewedPushDevices(database));
  scheduleRemovalOfUnrenewed(options, removingUnrenewedTokens(database));
  schedulePushCleanUp(options);
  const context = {
    ...options,
    sender,
    registering: new RegistrationIntake(options),
    changing: new ClientDeviceIntake(options),
    testing: new OneAtATime(),
    keyList: link && new KeyListCache(link, clock),
  };
  return {
    operations: bindOperations(context, serverPushOperations),
    pushDevicesOf: (userId, db = database.db) => pushDevicesOf(db, userId),
    clientDevicesOf: (userId, db = database.db) => clientDevicesOf(db, userId),
    notify: (transaction, notification) => enqueueNotification(database, transaction, notification),
    send: (notification) => sendNotification(options, notification),
    useServerKey: (serverKey) => link?.useServerKey(serverKey),
    async close() {
      results.close();
      await closeLink();
    },
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

/**
 * Creates the relay link and its close function. Without a configured relay there is no link, and undici is not
 * loaded.
 */
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
    monitor: new LinkMonitor({ ...options, onRecovery: () => retryPendingNow(options) }),
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

/** Removals keep their time: their delay is deliberate. */
async function retryPendingNow({ database }: Pick<ServerPushOptions, 'database'>): Promise<void> {
  for (const kind of [
    ...[deliverNotificationJob, forwardRegistrationJob, forwardFurtherRegistrationJob],
    ...[forwardTokenJob, forwardFurtherTokenJob],
  ]) {
    await database.jobs.bringForward(kind, recoverySpacingMilliseconds);
  }
}
