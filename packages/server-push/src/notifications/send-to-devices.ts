import type { RelayNotifyAnyAnswer, UserId } from '@waxwing/protocol';
import { statusIn } from '../relay-link/realm-push-status.js';
import type { RelayRefusal, RelayRetry } from '../relay-link/relay-answer.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import type { PushRealm } from '../server-push-options.js';
import type { DeviceResult } from './device-results.js';
import { encodeNotification } from './encode-notification.js';
import { maximumDevicesPerRequest } from './grouped-notifications.js';
import type { NotificationContent } from './notification-content.js';
import { type Recipient, type RecipientOptions, rowName } from './recipient.js';
import { recipientsOf } from './recipients.js';

/** A notification to send to one user's devices. */
export interface NotificationToSend {
  readonly userId: UserId;
  /** The devices to notify, read just before the call. */
  readonly recipients: readonly Recipient[];
  readonly content: NotificationContent;
  /**
   * Called before each request except the first. Returns whether the user should still be notified. Default: always
   * `true`.
   */
  readonly isStillWanted?: () => Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The outcome of sending a notification. A device that was deleted in the meantime counts neither as taken nor as a
 * failure.
 */
export interface Sending {
  /** The devices for which the relay accepted the notification, each with its result. */
  readonly taken: readonly TakenRecipient[];
  /** Why the relay did not accept the notification for the other devices; `undefined` if it accepted all. */
  readonly failure: RelayRefusal | RelayRetry | undefined;
  /** Whether the relay has switched push off for the organization. If so, nothing is sent to the remaining devices. */
  readonly isSwitchedOff: boolean;
}

interface TakenRecipient {
  readonly recipient: Recipient;
  readonly result: DeviceResult;
}

export interface SendToDevicesOptions extends RecipientOptions {
  readonly link: Pick<RelayLink, 'kind' | 'notify'>;
  readonly realm: PushRealm;
  /** Processes the relay's response to a request. Returns one result for each recipient, in order. */
  conclude(recipients: readonly Recipient[], answer: RelayNotifyAnyAnswer): Promise<readonly DeviceResult[]>;
}

/**
 * Seals a notification for each device and sends it to the relay. Unless the relay is known to accept batches, each
 * device gets a separate request: a stock relay may fail after it has delivered, and a retry must not notify other
 * devices twice. A request may take as long as the link's timeout, so the devices are read again before each further
 * request. Otherwise, a device could be notified after its user has signed out or lost access to the message.
 */
export async function sendToDevices(
  options: SendToDevicesOptions,
  notification: NotificationToSend,
): Promise<Sending> {
  const { link, realm } = options;
  const { userId, content, isStillWanted = async () => true, signal } = notification;
  const encoded = encodeNotification(realm, userId, content);
  const taken: TakenRecipient[] = [];
  let failure: Sending['failure'];
  let isSwitchedOff = false;
  const left = [...notification.recipients];
  for (let isFirst = true; left.length > 0 && !isSwitchedOff; isFirst = false) {
    if (!isFirst && !(await isStillWanted())) break;
    const maximum = link.kind.isOurs ? maximumDevicesPerRequest : 1;
    const some = isFirst ? takeNext(left, maximum) : await takeCurrent(options, userId, left, maximum);
    if (some.length === 0) continue;
    const requests = some.map((recipient) => recipient.seal(content.type, encoded));
    const outcome = await link.notify(requests, signal);
    isSwitchedOff = statusIn(outcome)?.canPush === false;
    if (outcome.kind === 'accepted') {
      const results = await options.conclude(some, outcome.answer);
      taken.push(...results.map((result, index) => ({ recipient: some[index] as Recipient, result })));
    } else {
      // A retryable failure takes precedence over a refusal.
      failure = failure?.kind === 'retry' ? failure : outcome;
      if (!concernsRequest(outcome)) break;
    }
  }
  return { taken, failure, isSwitchedOff };
}

/**
 * Removes the next request's recipients from the list and returns them. No address may occur twice in a request,
 * because the response identifies dead devices only by address. After the relay was restored from a backup, two devices
 * of one user can share an address although only one of them is dead.
 */
function takeNext(left: Recipient[], maximum: number): Recipient[] {
  const next = new Map<string, Recipient>();
  const others: Recipient[] = [];
  for (const recipient of left.splice(0)) {
    const fits = next.size < maximum && !next.has(recipient.address);
    if (fits) next.set(recipient.address, recipient);
    else others.push(recipient);
  }
  left.push(...others);
  return [...next.values()];
}

/** Like {@link takeNext}, but with the current state of the devices. The result is empty if the next device is gone. */
async function takeCurrent(
  options: RecipientOptions,
  userId: UserId,
  left: Recipient[],
  maximum: number,
): Promise<Recipient[]> {
  const rereads = maximum === 1 ? left.splice(0, 1) : left.splice(0);
  const names = new Set(rereads.map(rowName));
  const found = await recipientsOf(options, userId, maximum === 1 ? rereads[0]?.only : undefined);
  const current = found.filter((recipient) => names.has(rowName(recipient)));
  if (maximum === 1) return current;
  left.push(...current);
  return takeNext(left, maximum);
}

/**
 * Whether the relay may accept other requests although it did not accept this request. A single device can make a stock
 * relay fail.
 */
function concernsRequest(failure: RelayRefusal | RelayRetry): boolean {
  return failure.kind === 'refused-for-good' || failure.httpStatus === 500;
}
