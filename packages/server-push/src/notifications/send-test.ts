import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { RelayNotifyResult, UserId } from '@waxwing/protocol';
import { type Clock, unixSeconds } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { type ConfiguredRelay, withAccountLink } from '../relay-account/account-link.js';
import type { RelayRefusal, RelayRetry } from '../relay-link/relay-answer.js';
import type { PushRealm } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import { encodeNotification } from './encode-notification.js';
import { recipientsOf } from './recipients.js';

export interface SendTestOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly relay: ConfiguredRelay;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
  readonly clock: Clock;
}

/** Outcome of a test: the number of devices that got it, and why the others did not. */
export type SentTest =
  | { readonly kind: 'no-device' }
  | { readonly kind: 'sent'; readonly sent: number; readonly rejected: readonly RelayNotifyResult[] }
  | RelayRefusal
  | RelayRetry;

// The relay's body limit is far above this many.
const maximumDevices = 200;

/** Sends a test notification to a user's devices and waits for what the relay says of each. Changes nothing here. */
export async function sendTest(options: SendTestOptions, userId: UserId): Promise<SentTest> {
  const { realm, clock } = options;
  // Used only to drop devices, which a test does not.
  const publish = async () => undefined;
  const recipients = (await recipientsOf({ ...options, publish }, userId)).slice(0, maximumDevices);
  if (recipients.length === 0) return { kind: 'no-device' };
  const content = { type: 'test', time: unixSeconds(clock()) } as const;
  const encoded = encodeNotification(realm, userId, content);
  const requests = recipients.map((recipient) => recipient.seal(content.type, encoded));
  const outcome = await withAccountLink(options, (link) => link.notify(requests));
  if (outcome.kind !== 'accepted') return outcome;
  const { results, android_successfully_sent_count, apple_successfully_sent_count } = outcome.answer;
  // Stock relays give counts only.
  const counted = android_successfully_sent_count + apple_successfully_sent_count;
  if (results === undefined) {
    const rejected = Array.from(
      { length: recipients.length - counted },
      () => ({ status: 'rejected' }) as const,
    );
    return { kind: 'sent', sent: counted, rejected };
  }
  const rejected = results.filter(({ status }) => status !== 'sent');
  return { kind: 'sent', sent: results.length - rejected.length, rejected };
}

/** The user of the device that registered last; `undefined` if no device is registered. */
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
