import { type JsonObject, stringifyJson } from '@waxwing/protocol';
import type { CrashPhone } from './crash-phone.js';
import { type Transport, transports, type VendorDelivery } from './vendor-deliveries.js';

/** A notification that was acknowledged with a success response. */
export interface AcknowledgedNotification {
  readonly phone: CrashPhone;
  readonly isMessage?: boolean;
  /** Whether a delivery with this ciphertext and decrypted content is this notification. */
  matches(ciphertext: string, opened: JsonObject): boolean;
}

export interface CrashCounts {
  /** Number of registrations and notifications that got a success response. */
  readonly acknowledged: number;
  /** Number of acknowledged items that are missing at the end. */
  readonly lost: number;
  /** Number of acknowledged message notifications, each of which is sent by a job. */
  readonly messages: number;
  /** Number of deliveries beyond the first one of each notification. */
  readonly repeated: number;
  /**
   * Number of repeated notifications that a phone would show again, because ciphertext, message id or time differ. A
   * phone shows each combination of message id and time only once.
   */
  readonly shownTwice: number;
  /** Number of deliveries that the phone's key cannot decrypt. */
  readonly unopenable: number;
  /** Number of deliveries by transport. */
  readonly deliveries: Readonly<Record<Transport, number>>;
}

interface PhoneDeliveries {
  readonly byCiphertext: Map<string, { count: number; readonly opened: JsonObject | undefined }>;
}

/** Records acknowledged requests in the test's process, outside of the processes that acknowledged them. */
export class Ledger {
  readonly #phones = new Map<string, CrashPhone>();
  readonly #registered = new Set<CrashPhone>();
  readonly #lostRegistrations = new Map<CrashPhone, string>();
  readonly #notifications: AcknowledgedNotification[] = [];

  /** Number of registrations and notifications that have got a success response so far. */
  get acknowledged(): number {
    return this.#registered.size + this.#notifications.length;
  }

  /** Adds a phone to which deliveries may be addressed. */
  know(phone: CrashPhone): void {
    this.#phones.set(phone.address, phone);
  }

  /** Decrypts a push to a known phone. */
  openPush(endpoint: string, body: Buffer): JsonObject | undefined {
    return this.#phones.get(endpoint)?.openPush(body);
  }

  registrationAcknowledged(phone: CrashPhone): void {
    this.#registered.add(phone);
  }

  registrationLost(phone: CrashPhone, how: string): void {
    this.#lostRegistrations.set(phone, how);
  }

  notificationAcknowledged(notification: AcknowledgedNotification): void {
    this.#notifications.push(notification);
  }

  /** Describes each acknowledged item that has not arrived, one sentence each. */
  missing(deliveries: readonly VendorDelivery[]): string[] {
    const arrived = this.#sort(deliveries).byPhone;
    const missing = [...this.#lostRegistrations.values()];
    for (const notification of this.#notifications) {
      const { byCiphertext } = arrived.get(notification.phone) ?? { byCiphertext: new Map() };
      const found = [...byCiphertext].some(
        ([ciphertext, { opened }]) => opened !== undefined && notification.matches(ciphertext, opened),
      );
      const { tokenKind, keyField } = notification.phone;
      if (!found) missing.push(`a notification to the ${tokenKind} phone of ${keyField.name} ${keyField.id}`);
    }
    return missing;
  }

  count(deliveries: readonly VendorDelivery[]): CrashCounts {
    const { byPhone, unopenable } = this.#sort(deliveries);
    let [repeated, shownTwice] = [0, 0];
    for (const { byCiphertext } of byPhone.values()) {
      const opened = [...byCiphertext.values()].map((each) => each.opened ?? {});
      const [messages, others] = [opened.filter(isMessage), opened.filter((each) => !isMessage(each))];
      const shown = new Set(messages.map(({ message_id: id, time }) => `${id} ${time}`));
      const texts = new Set(messages.map(({ content }) => content));
      shownTwice += others.length - new Set(others.map((each) => stringifyJson(each))).size;
      shownTwice += shown.size - texts.size;
      // After a crash, a repeated job encrypts the same notification again, with a different ciphertext.
      repeated += messages.length - shown.size;
      for (const { count } of byCiphertext.values()) repeated += count - 1;
    }
    return {
      acknowledged: this.acknowledged,
      messages: this.#notifications.filter(({ isMessage: isOne }) => isOne).length,
      lost: this.missing(deliveries).length,
      repeated,
      shownTwice,
      unopenable,
      deliveries: countByTransport(deliveries),
    };
  }

  #sort(deliveries: readonly VendorDelivery[]) {
    const byPhone = new Map<CrashPhone, PhoneDeliveries>();
    let unopenable = 0;
    for (const { token, key, encrypted } of deliveries) {
      const phone = this.#phones.get(token);
      if (phone === undefined || phone.keyField.name !== key.name || phone.keyField.id !== key.id) {
        unopenable += 1;
        continue;
      }
      const { byCiphertext } = byPhone.get(phone) ?? { byCiphertext: new Map() };
      byPhone.set(phone, { byCiphertext });
      const before = byCiphertext.get(encrypted);
      const opened = before?.opened ?? (phone.open(encrypted) as JsonObject | undefined);
      if (opened === undefined) unopenable += 1;
      byCiphertext.set(encrypted, { count: (before?.count ?? 0) + 1, opened });
    }
    return { byPhone, unopenable };
  }
}

function countByTransport(deliveries: readonly VendorDelivery[]): Record<Transport, number> {
  const counts = Object.fromEntries(transports.map((name) => [name, 0])) as Record<Transport, number>;
  for (const { transport } of deliveries) counts[transport] += 1;
  return counts;
}

function isMessage({ type }: JsonObject): boolean {
  return type === 'message';
}
