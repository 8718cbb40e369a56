import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import { type Clock, unixSeconds } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { type ConfiguredRelay, withAccountLink } from '../relay-account/account-link.js';
import type { RelayRefusal, RelayRetry } from '../relay-link/relay-answer.js';
import type { PushRealm } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import { awaitReceipts } from './await-receipts.js';
import { type DeviceResult, readDeviceResults } from './device-results.js';
import { recipientsOf } from './recipients.js';
import { sendToDevices } from './send-to-devices.js';

export interface SendTestOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly relay: ConfiguredRelay;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
  readonly clock: Clock;
  /** Seconds to wait for the final results of notifications that the relay queues. */
  readonly waitSeconds: number;
}

/** The outcome of a test notification: the relay's result for each device, or why there is none. */
export type SentTest =
  | { readonly kind: 'no-device' }
  | { readonly kind: 'sent'; readonly results: readonly DeviceResult[] }
  | RelayRefusal
  | RelayRetry;

/** Sends a test notification to a user's devices and waits for the relay's result for each device. Stores nothing. */
export async function sendTest(options: SendTestOptions, userId: UserId): Promise<SentTest> {
  const { realm, clock } = options;
  // Events are published only when devices are dropped, and a test drops no device.
  const publish = async () => undefined;
  const reading = { ...options, publish };
  const recipients = await recipientsOf(reading, userId);
  if (recipients.length === 0) return { kind: 'no-device' };
  const content = { type: 'test', time: unixSeconds(clock()) } as const;
  const conclude = async (...answered: Parameters<typeof readDeviceResults>) =>
    readDeviceResults(...answered);
  return withAccountLink(options, async (link) => {
    const sending = { ...reading, link, realm, conclude };
    const { taken, failure } = await sendToDevices(sending, { userId, recipients, content });
    if (failure !== undefined) return failure;
    const results = taken.map(({ result }) => result);
    return { kind: 'sent', results: await awaitReceipts(link, results, options.waitSeconds * 1000) };
  });
}

/** Finds the user whose device registered last. Returns `undefined` if no device is registered. */
export async function findUserWithDevice(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'db'>,
): Promise<UserId | undefined> {
  const push = await database.db
    .selectFrom('push_devices')
    .select('user_id')
    .where('relay_device_id', 'is not', null)
    .orderBy('changed_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  const client = await database.db
    .selectFrom('client_devices')
    .select('user_id')
    .where('push_token_id', 'is not', null)
    .orderBy('used_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return (client ?? push)?.user_id;
}
