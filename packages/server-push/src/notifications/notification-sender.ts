import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { RelayNotifyAnyAnswer, UserId } from '@waxwing/protocol';
import type { Log } from '@waxwing/service/logging';
import type { RelayRefusal, RelayRetry } from '../relay-link/relay-answer.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import type { PushRealm } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import { encodeNotification } from './encode-notification.js';
import type { NotificationContent } from './notification-content.js';
import type { RecipientOptions } from './recipient.js';
import { deviceAddress, type Recipient, tokenAddress } from './recipient.js';
import { type OnlyDevice, recipientsOf } from './recipients.js';

export interface NotificationSenderOptions extends RecipientOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly link: RelayLink;
  readonly realm: PushRealm;
  readonly log: Log;
}

/** On `sent`, `dropped` of the `devices` are dead: the relay no longer knows them. */
export type SendOutcome =
  | { readonly kind: 'sent'; readonly devices: number; readonly dropped: number }
  | RelayRefusal
  | RelayRetry;

// The largest sealed and encoded notification takes about 4 KB; the relay's body limit is 1 MiB.
const maximumDevicesPerRequest = 200;

/**
 * Splits recipients into requests in which no address occurs twice: the answer names dead devices by address only. After
 * a restore of the relay, two devices of one user can share an address although only one is dead.
 */
function inRequests(recipients: readonly Recipient[]): readonly Recipient[][] {
  const requests: Map<string, Recipient>[] = [];
  for (const recipient of recipients) {
    const { address } = recipient;
    const request = requests.find((each) => each.size < maximumDevicesPerRequest && !each.has(address));
    if (request === undefined) requests.push(new Map([[address, recipient]]));
    else request.set(address, recipient);
  }
  return requests.map((request) => [...request.values()]);
}

/** The addresses that the relay no longer knows. An entry of another form is none of ours. */
function deadAddresses(answer: RelayNotifyAnyAnswer): ReadonlySet<string> {
  const { delete_device_ids: devices = [], delete_token_ids: tokens = [] } = answer;
  return new Set([...devices.map(deviceAddress), ...tokens.map(tokenAddress)]);
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
   * Sends to devices of one user. Stops at the first request that the relay does not accept, and returns its outcome.
   */
  async send(
    userId: UserId,
    recipients: readonly Recipient[],
    content: NotificationContent,
    signal?: AbortSignal,
  ): Promise<SendOutcome> {
    const { link, realm } = this.#options;
    const encoded = encodeNotification(realm, userId, content);
    let dropped = 0;
    for (const some of inRequests(recipients)) {
      const requests = some.map((recipient) => recipient.seal(content.type, encoded));
      const outcome = await link.notify(requests, signal);
      if (outcome.kind !== 'accepted') return outcome;
      dropped += await this.#dropDead(some, outcome.answer);
    }
    return { kind: 'sent', devices: recipients.length, dropped };
  }

  /** Never rejects: a repeat would send to the living devices again. The relay names the dead ones each time. */
  async #dropDead(recipients: readonly Recipient[], answer: RelayNotifyAnyAnswer): Promise<number> {
    const addresses = deadAddresses(answer);
    const dead = recipients.filter(({ address }) => addresses.has(address));
    if (dead.length === 0) return 0;
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
    return dead.length;
  }
}
