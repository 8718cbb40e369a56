import type { ClientDeviceOnWire, PushDeviceStateOnWire, UserId } from '@waxwing/protocol';
import { type AnyOperation, type BoundOperation, bindOperations } from '@waxwing/service/http';
import { type AnyTransaction, type ForeignConnection, withinTransaction } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { claimDatabase } from './claim-database.js';
import { ClientDeviceIntake } from './client-devices/client-device-intake.js';
import { clientDevicesOf } from './client-devices/client-device-store.js';
import { failingTokens } from './client-devices/fail-long-pending.js';
import { tokenRemoving } from './client-devices/remove-tokens.js';
import { repairTakenAgain } from './client-devices/taken-again.js';
import { removingUnrenewedTokens } from './client-devices/unrenewed-tokens.js';
import type { ServerPushContext } from './context.js';
import { CurrentRelay } from './current-relay.js';
import { handleForwarding } from './forwarding/forward-registration.js';
import { handleTokenForwarding } from './forwarding/forward-token.js';
import { type MountOptions, requireUserId, withDefaults } from './mount-options.js';
import { completeContent } from './notifications/complete-content.js';
import {
  deliverNotificationHandler,
  deliverNotificationJob,
  enqueueNotification,
  type NewNotification,
  type QueuedNotification,
} from './notifications/deliver-notification.js';
import { DeliveryResults } from './notifications/delivery-results.js';
import { type NotificationReach, notificationReach } from './notifications/notification-reach.js';
import { handleReceipts } from './notifications/read-receipts.js';
import { OneAtATime } from './one-at-a-time.js';
import { ownEventOperations, serverPushOperations } from './operations.js';
import { DeviceWatch } from './own-events/device-watch.js';
import { schedulePushCleanUp } from './push-clean-up.js';
import { failingPushDevices } from './push-devices/fail-long-pending.js';
import { pushDevicesOf } from './push-devices/push-device-store.js';
import { RegistrationIntake } from './push-devices/registration-intake.js';
import { relayDeviceRemoving } from './push-devices/remove-relay-devices.js';
import { removingUnrenewedPushDevices } from './push-devices/remove-unrenewed.js';
import { endingJobKinds, urgentJobKinds } from './push-job-kinds.js';
import { scheduleFailureOfLongPending } from './registrations/fail-long-pending.js';
import { handleRemovalJobs } from './registrations/removal-jobs.js';
import { scheduleRemovalOfUnrenewed } from './registrations/remove-unrenewed.js';
import { scheduleQuestionForPushStatus } from './relay-link/ask-for-push-status.js';
import { LinkMonitor } from './relay-link/link-monitor.js';
import { PublishedPushStatus } from './relay-link/published-push-status.js';
import { type RealmPushStatus, RealmPushStatusRecord } from './relay-link/realm-push-status.js';
import { handleRevocations } from './revocations/forward-revocation.js';
import { type ServedPush, servePush } from './serve-push.js';
import type { RelayAccount, ServerPushOptions } from './server-push-options.js';
import type { ServerPushTables } from './tables.js';

/** The server side of encrypted push, for mounting in a host's server. */
export interface ServerPush extends ServedPush {
  /** HTTP operations to mount in the server's app. */
  readonly operations: readonly BoundOperation[];
  /**
   * Returns the `push_devices` field of the response to `POST /register`: a map from decimal `push_account_id` to
   * `{status, error_code}`. Pass `db` to read inside a transaction; the default is the server's database.
   */
  pushDevicesOf(
    userId: UserId,
    db?: Kysely<ServerPushTables>,
  ): Promise<Record<string, PushDeviceStateOnWire>>;
  /**
   * Returns the `devices` field of the response to `POST /register`: a map from decimal device id to the device's
   * state.
   */
  clientDevicesOf(userId: UserId, db?: Kysely<ServerPushTables>): Promise<Record<string, ClientDeviceOnWire>>;
  /**
   * Enqueues a notification for all devices of each user. Pass `within` to enqueue it in the transaction that makes the
   * reported change, so that it is sent only if that transaction commits. `within` is a transaction of `database`, or
   * the host's connection to the same database with an open transaction, which the host then commits. Without `within`,
   * `notify` uses its own transaction.
   *
   * @throws RangeError if the payload is too large; TypeError if the payload is invalid.
   */
  notify(
    userIds: readonly number[],
    notification: NewNotification,
    within?: AnyTransaction | ForeignConnection,
  ): Promise<void>;
  /**
   * Like `notify`, but for one user, and always in its own transaction. Returns the number of devices that the
   * notification will reach. If it would reach none, enqueues nothing and returns the reason.
   */
  send(notification: QueuedNotification): Promise<NotificationReach>;
  /** Whether a relay is currently configured. */
  readonly isConfigured: boolean;
  /**
   * Returns whether notifications are currently sent, and until when. They are sent if a relay is configured and has
   * not switched push off for the organization. Pass `db` to read inside a transaction; the default is the server's
   * database.
   */
  realmPushStatus(db?: Kysely<ServerPushTables>): Promise<RealmPushStatus>;
  /**
   * Replaces the relay, or this server's key at the relay, starting with the next request. Requests in flight continue
   * with the previous relay and key. Then notifies clients if the push status has changed. Never rejects.
   */
  useRelay(account: RelayAccount): Promise<void>;
  /** Ends current and future long polls for events, so that an HTTP server can close. */
  endPolls(): void;
  /**
   * Closes the connections to the relay and aborts requests in flight, including requests from phones. Call it after
   * the last job has ended. Does not close a `dispatcher` passed in the options.
   */
  close(): Promise<void>;
}

// Interval between retried jobs after an outage: 50 jobs of each kind per second. A relay that has just recovered can
// handle that rate from each of its servers.
const recoverySpacingMilliseconds = 20;
const defaultLifetimeMilliseconds = 24 * 60 * 60_000;

/**
 * Creates the server side of encrypted push and registers its job handlers. Call it before the database's jobs start.
 *
 * @throws Error if another push instance in this process uses the same open database.
 */
export async function createServerPush<Tables extends ServerPushTables>(
  options: MountOptions<Tables>,
): Promise<ServerPush> {
  // The cast is needed because push is typed with only its own tables, but the callbacks get transactions on all
  // tables.
  const complete = (await withDefaults(options)) as unknown as ServerPushOptions;
  const { ownEvents = options.publish === undefined } = options;
  return assemble(complete, ownEvents ? ownEventOperations : []);
}

function assemble(
  given: ServerPushOptions,
  ownOperations: readonly AnyOperation<ServerPushContext>[],
): ServerPush {
  const deviceWatch = new DeviceWatch(given.database.signals);
  const options = ownOperations.length > 0 ? publishingTo(deviceWatch, given) : given;
  const { database } = options;
  const unclaim = claimDatabase(database);
  const { relay, results, published, useRelay } = openRelay(options);
  handleJobs(options, relay, results);
  const context = {
    ...options,
    relay,
    deviceWatch,
    registering: new RegistrationIntake(options),
    changing: new ClientDeviceIntake(options),
    testing: new OneAtATime(),
  };
  const operations = bindOperations(context, [...serverPushOperations, ...ownOperations]);
  const closing = new AbortController();
  return {
    ...servePush(operations, options, closing.signal),
    operations,
    pushDevicesOf: (userId, db = database.db) => pushDevicesOf(db, userId),
    clientDevicesOf: (userId, db = database.db) => clientDevicesOf(db, userId),
    notify: (userIds, notification, within) => notify(options, { userIds, notification, within }),
    send: (notification) => sendNotification(options, relay, notification),
    get isConfigured() {
      return relay.kind === 'configured';
    },
    realmPushStatus: (db = database.db) => published.current(db),
    useRelay,
    endPolls: () => closing.abort(),
    async close() {
      closing.abort();
      results.close();
      await deviceWatch.close();
      await relay.close();
      unclaim();
    },
  };
}

/** Creates the connection to the configured relay, and the records of the relay's responses. */
function openRelay(options: ServerPushOptions) {
  const { database } = options;
  const results = new DeliveryResults(options);
  const monitor = new LinkMonitor({ ...options, onRecovery: () => retryPendingNow(options) });
  const isConfigured = () => relay.kind === 'configured';
  const published = new PublishedPushStatus({ ...options, isConfigured });
  const pushStatus = new RealmPushStatusRecord({
    ...options,
    publishChange: (transaction, before) => published.publishChange(transaction, before),
  });
  const relay: CurrentRelay = new CurrentRelay(options, { monitor, results, pushStatus });
  scheduleQuestionForPushStatus({ database, link: () => relay.connection?.link, pushStatus });
  const useRelay = (account: RelayAccount): Promise<void> => {
    const before = { canPush: isConfigured(), endTimestamp: null };
    relay.use(account);
    return published.update(before);
  };
  return { relay, results, published, useRelay };
}

/** Wraps `publish` so that events also wake their users' long polls. */
function publishingTo(deviceWatch: DeviceWatch, options: ServerPushOptions): ServerPushOptions {
  return {
    ...options,
    async publish(transaction, events) {
      await deviceWatch.publish(transaction, events);
      await options.publish(transaction, events);
    },
  };
}

function handleJobs(options: ServerPushOptions, relay: CurrentRelay, results: DeliveryResults): void {
  const { database, clock, random, publish } = options;
  const jobs = { database, publish, clock, random };
  handleForwarding({ ...jobs, registrations: () => relay.connection?.registrations });
  handleTokenForwarding({ ...jobs, registrations: () => relay.connection?.tokens });
  database.jobs.handle(
    deliverNotificationJob,
    deliverNotificationHandler({
      database,
      clock,
      random,
      isWanted: options.isWanted,
      sender: () => relay.connection?.sender,
    }),
  );
  handleReceipts({ database, clock, random, results, receipts: () => relay.connection?.receipts });
  const removals = { database, clock, random, link: () => relay.connection?.link };
  handleRemovalJobs(removals, relayDeviceRemoving);
  handleRemovalJobs(removals, tokenRemoving, (transaction, removed) =>
    repairTakenAgain(
      options,
      transaction,
      removed.map(({ tokenId }) => tokenId),
    ),
  );
  handleRevocations(removals);
  scheduleFailureOfLongPending(options, failingPushDevices);
  scheduleFailureOfLongPending(options, failingTokens);
  scheduleRemovalOfUnrenewed(options, removingUnrenewedPushDevices(database));
  scheduleRemovalOfUnrenewed(options, removingUnrenewedTokens(database));
  schedulePushCleanUp(options);
}

interface ToNotify {
  readonly userIds: readonly number[];
  readonly notification: NewNotification;
  readonly within: AnyTransaction | ForeignConnection | undefined;
}

async function notify(
  options: ServerPushOptions,
  { userIds, notification, within }: ToNotify,
): Promise<void> {
  const now = options.clock();
  // The content is completed only once, so that all users get the same notification, even if the transaction is
  // retried.
  const content = completeContent(notification.content, now);
  const { giveUpAt = now + defaultLifetimeMilliseconds, reportId } = notification;
  const enqueue = async (transaction: AnyTransaction) => {
    for (const id of userIds) {
      await enqueueNotification(options, transaction, {
        userId: requireUserId(id),
        content,
        giveUpAt,
        reportId,
      });
    }
  };
  if (within === undefined) await options.database.write(enqueue);
  else await withinTransaction(within, enqueue);
}

function sendNotification(
  options: ServerPushOptions,
  relay: Pick<CurrentRelay, 'kind'>,
  notification: QueuedNotification,
): Promise<NotificationReach> {
  return options.database.write(async (transaction) => {
    const reach = await notificationReach(transaction, relay, notification.userId);
    if (reach.kind === 'devices') await enqueueNotification(options, transaction, notification);
    return reach;
  });
}

/**
 * Retries pending jobs after an outage of the relay. Removals come first: until they are done, the relay sends queued
 * notifications to users who signed out during the outage. Removals that have not been tried yet keep their scheduled
 * time, because their delay is deliberate.
 */
async function retryPendingNow({ database }: Pick<ServerPushOptions, 'database'>): Promise<void> {
  for (const kind of endingJobKinds) {
    await database.jobs.bringForward(kind, recoverySpacingMilliseconds, { failedOnly: true });
  }
  for (const kind of urgentJobKinds) {
    await database.jobs.bringForward(kind, recoverySpacingMilliseconds);
  }
}
