import type { RelayNotifyAnyAnswer, UserId } from '@waxwing/protocol';
import type { Log } from '@waxwing/service/logging';
import type { RelayLink } from '../relay-link/relay-link.js';
import type { PushRealm } from '../server-push-options.js';
import type { DeliveryResults } from './delivery-results.js';
import { type DeviceResult, deadAddresses, readDeviceResults } from './device-results.js';
import { GroupedNotifications } from './grouped-notifications.js';
import type { OnlyDevice, Recipient, RecipientOptions } from './recipient.js';
import { recipientsOf } from './recipients.js';
import { type NotificationToSend, type Sending, sendToDevices } from './send-to-devices.js';

export interface NotificationSenderOptions extends RecipientOptions {
  readonly link: RelayLink;
  readonly realm: PushRealm;
  readonly log: Log;
  readonly results: Pick<DeliveryResults, 'note' | 'noteDropped'>;
}

/** Sends notifications to the relay, records the results, and drops devices that the relay does not know. */
export class NotificationSender {
  readonly #options: NotificationSenderOptions;
  readonly #link: GroupedNotifications;

  constructor(options: NotificationSenderOptions) {
    this.#options = options;
    this.#link = new GroupedNotifications(options.link);
  }

  /** Returns a user's active devices, or only the device that `only` names. */
  recipientsOf(userId: UserId, only?: OnlyDevice): Promise<Recipient[]> {
    return recipientsOf(this.#options, userId, only);
  }

  /** Sends a notification to one user's devices. */
  send(notification: NotificationToSend): Promise<Sending> {
    const conclude = (recipients: readonly Recipient[], answer: RelayNotifyAnyAnswer) =>
      this.#conclude(recipients, answer);
    return sendToDevices({ ...this.#options, link: this.#link, conclude }, notification);
  }

  async #conclude(recipients: readonly Recipient[], answer: RelayNotifyAnyAnswer): Promise<DeviceResult[]> {
    const results = readDeviceResults(recipients, answer);
    await this.#dropDead(recipients, answer);
    await this.#options.results.note(
      recipients.map(({ row }) => row),
      results,
    );
    return results;
  }

  /**
   * Drops devices that the relay does not know. Never rejects, because a retry of the job would notify the other
   * devices again. The relay reports the unknown devices again next time.
   */
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
      this.#options.results.noteDropped(devices);
    } catch (err) {
      log.error({ err, devices }, 'devices that the relay does not know could not be dropped');
    }
  }
}
