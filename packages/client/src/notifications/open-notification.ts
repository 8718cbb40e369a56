import { sha256 } from '@noble/hashes/sha2.js';
import {
  encodeBase64,
  type Notification,
  parseNotification,
  type RemoveNotification,
} from '@waxwing/protocol/phone';
import type { OpeningSodium } from '@waxwing/sodium';
import { isSameAccount, type PushAccount, type PushAccountIdentity } from '../accounts/push-account.js';
import { jsonSafe } from '../json-safe.js';
import { type AccountReader, findBox } from './find-box.js';
import { parseReceivedPush, type ReceivedPush } from './received-push.js';
import type { SeenNotifications } from './seen-notifications.js';

/** The reasons for ignoring a push, each with a sentence for the app's log. */
export const ignoredReasons = Object.freeze({
  'not-encrypted-push':
    'The push has no usable push_key_id or push_account_id, or no usable encrypted_data: it is not for this library.',
  'rounded-account-id':
    'push_account_id is a number beyond 2^53, so it has been rounded: pass the raw JSON text, or the id as text or bigint.',
  'unknown-account':
    'No account of this phone has the push_key_id or push_account_id: for example, the user has signed out.',
  'cannot-open': 'The box cannot be opened with the key of the account.',
  'unknown-type': 'The box contains no notification of a type that this version knows.',
  'wrong-account': 'The opened box names a different organization or user than those of the account.',
  repeat:
    'This notification has been opened before, or it is older than the oldest one that the phone remembers.',
} as const);

const nameCharacters = 4;

/** Why a push was ignored; {@link ignoredReasons} explains each reason. */
export type IgnoredReason = keyof typeof ignoredReasons;

/** Result of opening a push: a notification, or the reason why the push was ignored. */
export type OpenedNotification =
  | {
      readonly kind: 'notification';
      readonly notification: Notification;
      /** The recipient account, without keys and token. In JSON, `bigint` ids are decimal strings. */
      readonly account: PushAccountIdentity;
    }
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason; readonly explanation: string };

/** Dependencies of {@link openNotification}. */
export interface OpenNotificationContext {
  /** A `Sodium`, or the smaller `openingSodium` of the entry point `@waxwing/client/open`. */
  readonly sodium: OpeningSodium;
  readonly accounts: AccountReader;
  readonly seen: SeenNotifications;
}

/**
 * Opens a push from FCM, APNs or Web Push: finds the account, opens the box, checks that `realm_url` and `user_id`
 * match the account, and drops replays of all types except removals. Never throws because of the push's contents; store
 * errors propagate to the caller.
 */
export async function openNotification(
  { sodium, accounts, seen }: OpenNotificationContext,
  received: ReceivedPush,
): Promise<OpenedNotification> {
  const push = parseReceivedPush(received);
  if (push.kind === 'rounded-account-id' || push.kind === 'not-encrypted-push') return ignored(push.kind);
  const box = await findBox(accounts, push);
  if (box === undefined) return ignored('unknown-account');
  const { account } = box;
  const plaintext = box.open(sodium);
  if (plaintext === undefined) return ignored('cannot-open');
  const notification = parseNotification(plaintext);
  if (notification === undefined) return ignored('unknown-type');
  if (!isForAccount(notification, account)) return ignored('wrong-account');
  const { pushAccountId, realmUrl, userId } = account;
  // Removals are idempotent, so replays need no check.
  if (notification.type !== 'remove') {
    const { time } = notification;
    const name = nameOf(notification, push.ciphertext);
    if (!(await seen.addIfNew({ pushAccountId, time, name }))) return ignored('repeat');
  }
  const identity = jsonSafe({ pushAccountId, realmUrl, userId });
  return { kind: 'notification', notification: jsonSafe(notification), account: identity };
}

function isForAccount({ realm_url: realmUrl, user_id: userId }: Notification, account: PushAccount): boolean {
  return isSameAccount({ realmUrl, userId }, account);
}

/**
 * Returns the name that identifies a notification for replay detection. A message or payload keeps its name if it is
 * sealed again. The name of a test notification is derived from its ciphertext. A server that was restored from a
 * backup reuses ids, but with a different `time`. 24 bits are enough to distinguish notifications within the same
 * second.
 */
function nameOf(notification: Exclude<Notification, RemoveNotification>, sealed: Uint8Array): string {
  return encodeBase64(sha256(identityOf(notification) ?? sealed)).slice(0, nameCharacters);
}

function identityOf(notification: Exclude<Notification, RemoveNotification>): Uint8Array | undefined {
  if (notification.type === 'test') return undefined;
  const id = notification.type === 'message' ? notification.message_id : notification.id;
  return new TextEncoder().encode(`${notification.type} ${id}`);
}

function ignored(reason: IgnoredReason): OpenedNotification {
  return { kind: 'ignored', reason, explanation: ignoredReasons[reason] };
}
