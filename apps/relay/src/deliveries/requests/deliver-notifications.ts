import type { PushRequest, RelayDeviceId } from '@waxwing/protocol';
import { type Clock, Gathered } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { hasReadableToken, type StoredRelayDevice } from '../../registrations/relay-device.js';
import { type FindRelayDevices, findForEach } from '../../registrations/relay-device-store.js';
import type { TokenVault } from '../../registrations/token-vault.js';
import type { RelayDatabase } from '../../tables.js';
import type { AttemptOptions, DeliveryAttempts } from '../attempts/attempt-delivery.js';
import { type Delivery, type EncryptedNotification, expiresAt, isOfKind } from '../delivery.js';
import type { DeliveryTimings } from '../delivery-timings.js';
import type { Outcome } from '../policy/judge-answer.js';
import type { LoadLimit } from '../queue/load-limit.js';
import { outcomeOf, type Receipt, type ReceiptKey, type ReceiptStore } from '../queue/receipt-store.js';
import type { FirstOutcome, RecordOutcomes } from '../queue/record-outcomes.js';
import { type NotifyRequester, readPushRequest } from './read-push-request.js';

/** What became of one push request. */
export interface DeliveryResult {
  readonly notification: EncryptedNotification;
  readonly outcome: Outcome;
  /** Whether the server may ask for its receipt. */
  readonly isRemembered: boolean;
}

export interface DeliverNotificationsOptions {
  readonly database: RelayDatabase;
  readonly tokenVault: TokenVault;
  readonly clock: Clock;
  readonly log: Log;
  readonly attempts: DeliveryAttempts;
  readonly receipts: ReceiptStore;
  readonly records: RecordOutcomes;
  readonly load: LoadLimit;
  readonly timings: DeliveryTimings;
}

/** One push request on its way. */
interface Item {
  readonly notification: EncryptedNotification;
  readonly hasOwnId: boolean;
  /** Whether another request or an earlier item has it, so that nothing is to be recorded. */
  isRepeat: boolean;
  /** The earlier item of this request that it repeats. */
  sameAs?: Item;
  /** The request that is busy with it already. */
  follows?: Claim;
  /** Ends when `outcome` is there; left out where it was there at once. Never rejects. */
  trying?: Promise<void>;
  /** What its try came to; `undefined` while it is under way. */
  ended?: Outcome;
  /** What the answer says of it, which is on the disk. */
  outcome?: Outcome;
}

/** A notification with an id that a request of this process is busy with. */
interface Claim {
  readonly item: Item;
  /** Ends when what came of the whole request is on the disk; rejects when that could not be stored. */
  readonly stored: Promise<void>;
}

const internalRetryMilliseconds = 5000;
const unknownDevice: Outcome = { kind: 'gone', reason: 'UNKNOWN_DEVICE' };
const wrongKind: Outcome = { kind: 'rejected', reason: 'WRONG_KIND', fault: 'server' };

/** The first try of every notification of a request, within its budget; what is left over is stored before it returns. */
export class DeliverNotifications {
  readonly #options: DeliverNotificationsOptions;
  /** From a request's arrival until what came of it is stored: a repeat waits for that instead of sending again. */
  readonly #claims = new Map<string, Claim>();
  /** Ends the wait of each request that waits for vendors. */
  readonly #waits = new Set<() => void>();
  #waitsNoLonger = false;
  readonly #lookUps: Gathered<FindRelayDevices, Map<RelayDeviceId, StoredRelayDevice>>;

  constructor(options: DeliverNotificationsOptions) {
    this.#options = options;
    this.#lookUps = new Gathered((wanted) => findForEach(options.database.db, wanted));
  }

  /** See {@link LoadLimit.requireRoom}. */
  requireRoom(serverId: string, notifications: number): void {
    this.#options.load.requireRoom(serverId, notifications);
  }

  /**
   * One result for each request, in order; what they say is durable.
   * @throws ProtocolError SERVICE_UNAVAILABLE when the relay is full.
   */
  async deliver(requester: NotifyRequester, requests: readonly PushRequest[]): Promise<DeliveryResult[]> {
    const now = this.#options.clock();
    const items = requests.map((request): Item => {
      const notification = readPushRequest(request, requester, now);
      // A number that no device can have can be in no receipt either.
      const hasOwnId = request.notification_id != null && Number.isSafeInteger(notification.relayDeviceId);
      return { notification, hasOwnId, isRepeat: false };
    });
    this.#options.load.enter(requester.serverId, items.length);
    const own = this.#findRepeats(items);
    const stored = this.#deliver(requester, items, now);
    for (const [key, item] of own) this.#claims.set(key, { item, stored });
    try {
      await stored;
    } finally {
      for (const key of own.keys()) this.#claims.delete(key);
    }
    return items.map((item) => {
      const { outcome = unknownDevice } = item.sameAs ?? item;
      const isRemembered = item.hasOwnId || outcome.kind === 'retry';
      return { notification: item.notification, outcome, isRemembered };
    });
  }

  /** From now on no request waits for vendors: what is under way is stored for a later try. For closing. */
  waitNoLonger(): void {
    this.#waitsNoLonger = true;
    for (const end of this.#waits) end();
  }

  /** The items with an id that are this request's to deliver, by their keys; the others are marked as repeats. */
  #findRepeats(items: readonly Item[]): Map<string, Item> {
    const own = new Map<string, Item>();
    for (const item of items) {
      if (!item.hasOwnId) continue;
      const key = keyOf(item.notification);
      const sameAs = own.get(key);
      const follows = this.#claims.get(key);
      if (sameAs !== undefined) item.sameAs = sameAs;
      else if (follows !== undefined) item.follows = follows;
      else own.set(key, item);
      item.isRepeat = own.get(key) !== item;
    }
    return own;
  }

  /** Ends when each item has an outcome, and all of them are on the disk. */
  async #deliver({ serverId }: NotifyRequester, items: readonly Item[], now: number): Promise<void> {
    const { load, records } = this.#options;
    let late: readonly Item[] = [];
    try {
      await this.#begin(items, now);
      await this.#waitForVendors(items);
      // What another request has is on the disk soon, and only then may this one's answer say so.
      for (const item of items) if (item.follows !== undefined) await item.trying;
      late = items.filter(({ ended }) => ended === undefined);
      const outcomes = await records.record(items.map((item) => this.#settle(item, now)));
      for (const [index, item] of items.entries()) item.outcome = outcomes[index] ?? unknownDevice;
    } finally {
      load.leave(serverId, items.length - late.length);
      // Only now, or what the answer said would be taken for the newer.
      for (const item of late) void this.#endLate(item);
    }
  }

  /** Sends what is to be sent; what needs no vendor has ended then. */
  async #begin(items: readonly Item[], now: number): Promise<void> {
    const { attempts, timings } = this.#options;
    const devices = await this.#findDevices(items);
    const remembered = await this.#recall(items);
    const options: AttemptOptions = {
      triesBefore: 0,
      doubtsBefore: 0,
      hasWaited: false,
      notAfter: now + timings.requestBudgetMilliseconds,
    };
    for (const item of items) {
      const { notification, follows } = item;
      const device = devices.get(notification.relayDeviceId);
      const receipt = item.hasOwnId ? remembered.get(keyOf(notification)) : undefined;
      if (item.sameAs !== undefined || device === undefined || device.expiredAt !== undefined) {
        item.ended = unknownDevice;
        item.isRepeat ||= receipt !== undefined;
      } else if (hasReadableToken(device) && !isOfKind(device, notification)) {
        item.ended = wrongKind;
      } else if (follows !== undefined) {
        item.trying = this.#follow(item, follows);
      } else if (receipt !== undefined && receipt.status !== 'gone') {
        item.ended = outcomeOf(receipt);
        item.isRepeat = true;
      } else if (hasReadableToken(device)) {
        // Also a token that was dead and was registered again since: it deserves another try.
        item.trying = this.#try(item, { notification, device }, options);
      } else {
        item.ended = attempts.refuseUnreadable(notification, device);
      }
    }
  }

  /** Ends when nothing is under way any more, or the request's budget is spent. */
  #waitForVendors(items: readonly Item[]): Promise<void> | undefined {
    const tries = items.flatMap(({ trying }) => trying ?? []);
    if (tries.length === 0 || this.#waitsNoLonger) return undefined;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(budget);
        this.#waits.delete(end);
        resolve();
      };
      const budget = setTimeout(end, this.#options.timings.requestBudgetMilliseconds);
      this.#waits.add(end);
      void Promise.all(tries).then(end);
    });
  }

  async #try(item: Item, delivery: Delivery, options: AttemptOptions): Promise<void> {
    const { attempts, log } = this.#options;
    try {
      item.ended = await attempts.attempt(delivery, options);
    } catch (err) {
      log.error({ err, device: delivery.device.id }, 'a delivery could not be tried');
      item.ended = this.#retrySoon();
    }
  }

  async #follow(item: Item, { item: first, stored }: Claim): Promise<void> {
    try {
      await stored;
      item.ended = first.outcome ?? unknownDevice;
    } catch (err) {
      // The request that had it could not store what came of it: it may have been sent, so it is tried again.
      this.#options.log.warn(
        { err, device: item.notification.relayDeviceId },
        'a repeat takes the place of the first',
      );
      item.isRepeat = false;
      item.ended = this.#retrySoon();
    }
  }

  #retrySoon(): Outcome {
    const at = this.#options.clock() + internalRetryMilliseconds;
    return { kind: 'retry', reason: 'INTERNAL', at, isTry: false };
  }

  /** What is stored for later must still be worth it then. */
  #settle({ notification, hasOwnId, isRepeat, ended }: Item, receivedAt: number): FirstOutcome {
    const { timings, clock } = this.#options;
    const answerTimeout = Math.max(timings.fcmTimeoutMilliseconds, timings.apns.requestTimeoutMilliseconds);
    const outcome: Outcome = ended ?? {
      kind: 'retry',
      reason: 'UNDER_WAY',
      // Later than anything that is under way can last, so that the stored try never runs beside it.
      at: Math.max(clock(), receivedAt) + 3 * answerTimeout,
      isTry: true,
      isInDoubt: true,
    };
    const isWorthless = outcome.kind === 'retry' && !isRepeat && outcome.at >= expiresAt(notification);
    const settled: Outcome = isWorthless
      ? { kind: 'rejected', reason: `EXPIRED_${outcome.reason}`, fault: 'vendor' }
      : outcome;
    return { notification, hasOwnId, isRepeat, outcome: settled };
  }

  /** What is late leaves when its vendor has answered. */
  async #endLate(item: Item): Promise<void> {
    const { load, records, log } = this.#options;
    await item.trying;
    load.leave(item.notification.serverId, 1);
    const { notification, ended = this.#retrySoon() } = item;
    try {
      await records.recordLate(notification, ended, item.outcome?.kind === 'retry');
    } catch (err) {
      log.error(
        { err, device: notification.relayDeviceId },
        'the end of a late delivery could not be stored',
      );
    }
  }

  #findDevices(items: readonly Item[]): Promise<Map<RelayDeviceId, StoredRelayDevice>> {
    const { tokenVault: vault } = this.#options;
    const ids = [...new Set(items.map(({ notification }) => notification.relayDeviceId))].filter(
      Number.isSafeInteger,
    );
    const realmId = items[0]?.notification.realmId;
    if (realmId === undefined) return Promise.resolve(new Map());
    return this.#lookUps.ask({ realmId, ids, vault });
  }

  async #recall(items: readonly Item[]): Promise<Map<string, Receipt>> {
    const withId = items.filter(({ hasOwnId }) => hasOwnId).map(({ notification }) => notification);
    const [first] = withId;
    if (first === undefined) return new Map();
    const ids = [...new Set(withId.map(({ notificationId }) => notificationId))];
    const found = await this.#options.receipts.find(first.serverId, ids);
    return new Map(found.map((receipt) => [keyOf(receipt), receipt]));
  }
}

/** Tells one notification for one device from all others. */
function keyOf({ serverId, notificationId, relayDeviceId }: ReceiptKey): string {
  return `${serverId} ${notificationId} ${relayDeviceId}`;
}
