import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { RelayNotifyAnyAnswer, UserId } from '@waxwing/protocol';
import type { Log } from '@waxwing/service/logging';
import type { RelayRefusal, RelayRetry } from '../relay-link/relay-answer.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import type { PushRealm } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import type { DeliveryResults } from './delivery-results.js';
import { type DeviceResult, deadAddresses, readDeviceResults } from './device-results.js';
import { encodeNotification } from './encode-notification.js';
import type { NotificationContent } from './notification-content.js';
import type { Recipient, RecipientOptions } from './recipient.js';
import { type OnlyDevice, recipientsOf } from './recipients.js';

export interface NotificationSenderOptions extends RecipientOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly link: RelayLink;
  readonly realm: PushRealm;
  readonly log: Log;
  readonly results: Pick<DeliveryResults, 'note'>;
}

/** What became of a notification. */
export interface Sending {
  /** The recipients that the relay took, and what it said of each. */
  readonly taken: readonly TakenRecipient[];
  /** Why the relay did not take the others; `undefined` if it took all. */
  readonly failure: RelayRefusal | RelayRetry | undefined;
}

interface TakenRecipient {
  readonly recipient: Recipient;
  readonly result: DeviceResult;
}

// The largest sealed and encoded notification takes about 4 KB; the relay's body limit is 1 MiB.
const maximumDevicesPerRequest = 200;

/**
 * Takes the recipients of the next request from the list. No address occurs twice in a request: the answer names dead
 * devices by address only. After a restore of the relay, two devices of one user can share an address although only one
 * is dead.
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

/** Whether the relay may take another request although it did not take this one. A stock relay fails at single devices. */
function concernsRequest(failure: RelayRefusal | RelayRetry): boolean {
  return failure.kind === 'refused-for-good' || failure.httpStatus === 500;
}

/** Seals a notification for each device and sends it to the relay. */
export class NotificationSender {
  readonly #options: NotificationSenderOptions;

  constructor(options: NotificationSenderOptions) {
    this.#options = options;
  }

  /** A user's active devices; only those that `only` names, if it names any. */
  recipientsOf(userId: UserId, only?: OnlyDevice): Promise<Recipient[]> {
    return recipientsOf(this.#options, userId, only);
  }

  /**
   * Sends to devices of one user. A relay that may deliver and fail nevertheless gets each device in a request of its
   * own, so that no device is notified again because of another.
   */
  async send(
    userId: UserId,
    recipients: readonly Recipient[],
    content: NotificationContent,
    signal?: AbortSignal,
  ): Promise<Sending> {
    const { link, realm } = this.#options;
    const encoded = encodeNotification(realm, userId, content);
    const taken: TakenRecipient[] = [];
    let failure: Sending['failure'];
    const left = [...recipients];
    while (left.length > 0) {
      const some = takeNext(left, link.kind.isOurs ? maximumDevicesPerRequest : 1);
      const requests = some.map((recipient) => recipient.seal(content.type, encoded));
      const outcome = await link.notify(requests, signal);
      if (outcome.kind === 'accepted') taken.push(...(await this.#conclude(some, outcome.answer)));
      else {
        // What is to be retried outweighs what is refused.
        failure = failure?.kind === 'retry' ? failure : outcome;
        if (!concernsRequest(outcome)) break;
      }
    }
    return { taken, failure };
  }

  async #conclude(recipients: readonly Recipient[], answer: RelayNotifyAnyAnswer): Promise<TakenRecipient[]> {
    const results = readDeviceResults(recipients, answer);
    await this.#dropDead(recipients, answer);
    await this.#options.results.note(recipients, results);
    return results.map((result, index) => ({ recipient: recipients[index] as Recipient, result }));
  }

  /** Never rejects: a repeat would send to the living devices again. The relay names the dead ones each time. */
  async #dropDead(recipients: readonly Recipient[], answer: RelayNotifyAnyAnswer): Promise<void> {
    const addresses = deadAddresses(answer);
    const dead = recipients.filter(({ address }) => addresses.has(address));
    if (dead.length === 0) return;
    const { database, log } = this.#options;
    const devices = dead.map(({ row }) => row);
    try {
      await database.write(async (transaction) => {
        for (const recipient of dead) await recipient.drop(transaction);
      });
      log.info({ devices }, 'dropped devices that the relay does not know');
    } catch (err) {
      log.error({ err, devices }, 'devices that the relay does not know could not be dropped');
    }
  }
}
