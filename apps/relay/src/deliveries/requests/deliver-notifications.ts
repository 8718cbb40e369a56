import type { PushRequest } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { isReadable, type StoredRelayDevice } from '../../registrations/relay-device.js';
import { findRelayDevices } from '../../registrations/relay-device-store.js';
import type { TokenVault } from '../../registrations/token-vault.js';
import type { RelayDatabase } from '../../tables.js';
import type { Attempt, AttemptOptions, DeliveryAttempts } from '../attempts/attempt-delivery.js';
import { expiresAt, type Notification } from '../delivery.js';
import type { DeliveryTimings } from '../delivery-timings.js';
import { isOfKind } from '../match-kind.js';
import type { LoadLimit } from '../queue/load-limit.js';
import type { Receipt, ReceiptStore } from '../queue/receipt-store.js';
import type { RecordAttempts } from '../queue/record-outcomes.js';
import { Claims, keyOf } from './claims.js';
import { type NotifyRequester, readPushRequest } from './read-push-request.js';

/** What became of one push request. */
export interface DeliveryResult {
  readonly notification: Notification;
  readonly attempt: Attempt;
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
  readonly records: RecordAttempts;
  readonly load: LoadLimit;
  readonly timings: DeliveryTimings;
}

interface Item {
  readonly notification: Notification;
  readonly hasOwnId: boolean;
  attempt: Attempt | undefined;
  /** Whether another request or an earlier item has it, so that nothing is to be recorded. */
  isRepeat: boolean;
  /** What another request will have made of it. */
  follows: Promise<Attempt> | undefined;
  /** The same, once it is certain that it is on the disk; what takes its place where it is not. */
  following: Promise<Attempt> | undefined;
  /** The earlier item of this request that it repeats. */
  sameAs: Item | undefined;
}

interface Start {
  readonly device: StoredRelayDevice | undefined;
  readonly remembered: ReadonlyMap<string, Receipt>;
  /** The same for all items of a request. */
  readonly first: AttemptOptions;
}

const internalRetryMilliseconds = 5000;
const deadAttempt: Attempt = { kind: 'gone', reason: 'UNKNOWN_DEVICE' };

/** The first try of every notification of a request, within its budget; what is left over is stored before it returns. */
export class DeliverNotifications {
  readonly #options: DeliverNotificationsOptions;
  readonly #claims = new Claims();
  /** What ends the wait of each request that waits for vendors. */
  readonly #waits = new Set<() => void>();
  #waitsNoLonger = false;

  constructor(options: DeliverNotificationsOptions) {
    this.#options = options;
  }

  /**
   * One result for each request, in order; what they say is durable.
   * @throws ProtocolError SERVICE_UNAVAILABLE when the relay is full.
   */
  async deliver(requester: NotifyRequester, requests: readonly PushRequest[]): Promise<DeliveryResult[]> {
    const { load, clock, records } = this.#options;
    const now = clock();
    const items = requests.map((request): Item => {
      const notification = readPushRequest(request, requester, now);
      // A number that no device can have can be in no receipt either.
      const hasOwnId = request.notification_id != null && Number.isSafeInteger(notification.relayDeviceId);
      return {
        notification,
        hasOwnId,
        attempt: undefined,
        isRepeat: false,
        follows: undefined,
        following: undefined,
        sameAs: undefined,
      };
    });
    load.enter(items.length);
    const claimed = this.#claimAll(items);
    let late: readonly Item[] = [];
    let markStored = (): void => undefined;
    const stored = new Promise<void>((resolve) => {
      markStored = resolve;
    });
    try {
      late = await this.#attemptAll(items, now, stored);
      // What another request has is on the disk soon, and only then may this one's answer say so.
      for (const item of late) item.attempt = await item.following;
      const settled = items.map((item) => this.#settle(item, now));
      const attempts = await records.record(settled);
      items.forEach((item, index) => {
        item.attempt = attempts[index] ?? deadAttempt;
      });
      for (const { notification, attempt = deadAttempt } of claimed)
        this.#claims.settle(notification, attempt);
      return items.map(({ notification, hasOwnId, sameAs, attempt: own = deadAttempt }) => {
        const attempt = sameAs?.attempt ?? own;
        return { notification, attempt, isRemembered: hasOwnId || attempt.kind === 'retry' };
      });
    } catch (error) {
      for (const { notification } of claimed) this.#claims.abandon(notification, error);
      throw error;
    } finally {
      // What is late leaves when its vendor has answered.
      load.leave(items.length - late.length);
      markStored();
    }
  }

  /** From now on no request waits for vendors: what is under way is stored for a later try. For closing. */
  waitNoLonger(): void {
    this.#waitsNoLonger = true;
    for (const end of this.#waits) end();
  }

  /** The items that are this request's to deliver; the other ones with an id follow those that have them. */
  #claimAll(items: readonly Item[]): Item[] {
    const own = new Map<string, Item>();
    for (const item of items) {
      if (!item.hasOwnId) continue;
      const key = keyOf(item.notification);
      item.sameAs = own.get(key);
      item.follows = item.sameAs === undefined ? this.#claims.claim(item.notification) : undefined;
      item.isRepeat = item.sameAs !== undefined || item.follows !== undefined;
      if (!item.isRepeat) own.set(key, item);
    }
    return [...own.values()];
  }

  /**
   * Resolves when every item has its attempt or the budget is spent; then with the items that are still under way.
   * What comes of those is written down once `stored` says that the answer's own words are: the later ones stay.
   */
  async #attemptAll(items: readonly Item[], now: number, stored: Promise<void>): Promise<Item[]> {
    const { timings } = this.#options;
    const devices = await this.#findDevices(items);
    const remembered = await this.#recall(items);
    const first: AttemptOptions = {
      triesBefore: 0,
      doubtsBefore: 0,
      hasWaited: false,
      notAfter: now + timings.requestBudgetMilliseconds,
    };
    const late: Item[] = [];
    let open = 0;
    let isOver = false;
    let end = (): void => undefined;
    await new Promise<void>((resolve) => {
      const budget = setTimeout(resolve, this.#waitsNoLonger ? 0 : timings.requestBudgetMilliseconds);
      end = () => {
        clearTimeout(budget);
        resolve();
      };
      this.#waits.add(end);
      for (const item of items) {
        const device = devices.get(item.notification.relayDeviceId);
        const started = this.#start(item, { device, remembered, first });
        if (started === undefined) continue;
        open += 1;
        const onEnd = (attempt: Attempt): void => {
          if (isOver) {
            void this.#endLate(item, attempt, stored);
            return;
          }
          item.attempt = attempt;
          open -= 1;
          if (open === 0) end();
        };
        void started.then(onEnd, (error: unknown) => onEnd(this.#untried(item, error)));
      }
      if (open === 0) end();
    });
    this.#waits.delete(end);
    isOver = true;
    for (const item of items) if (item.attempt === undefined) late.push(item);
    return late;
  }

  /** The attempt on its way, or `undefined` when the item is settled without one. */
  #start(item: Item, { device, remembered, first }: Start): Promise<Attempt> | undefined {
    const { notification, hasOwnId } = item;
    if (item.sameAs !== undefined) {
      item.attempt = deadAttempt;
      return undefined;
    }
    const receipt = hasOwnId ? remembered.get(keyOf(notification)) : undefined;
    if (device === undefined || device.expiredAt !== undefined) {
      item.attempt = deadAttempt;
      item.isRepeat ||= receipt !== undefined;
      return undefined;
    }
    if (isReadable(device) && !isOfKind(device, notification)) {
      item.attempt = { kind: 'rejected', reason: 'WRONG_KIND', fault: 'server' };
      return undefined;
    }
    if (item.follows !== undefined) {
      item.following = this.#follow(item, item.follows);
      return item.following;
    }
    // A token that was dead and was registered again since deserves another try.
    if (receipt === undefined || receipt.status === 'gone') {
      const { attempts } = this.#options;
      if (isReadable(device)) return attempts.attempt({ notification, device }, first);
      item.attempt = attempts.refuseUnreadable(notification, device);
      return undefined;
    }
    item.attempt = attemptOf(receipt);
    item.isRepeat = true;
    return undefined;
  }

  async #follow(item: Item, end: Promise<Attempt>): Promise<Attempt> {
    try {
      return await end;
    } catch (err) {
      // The request that had it could not store what came of it: it may have been sent, so it is tried again.
      this.#options.log.warn(
        { err, device: item.notification.relayDeviceId },
        'a repeat takes the place of the first',
      );
      item.isRepeat = false;
      return {
        kind: 'retry',
        reason: 'INTERNAL',
        at: this.#options.clock() + internalRetryMilliseconds,
        isTry: false,
      };
    }
  }

  #untried({ notification }: Item, err: unknown): Attempt {
    const { clock, log } = this.#options;
    log.error({ err, device: notification.relayDeviceId }, 'a delivery could not be tried');
    return { kind: 'retry', reason: 'INTERNAL', at: clock() + internalRetryMilliseconds, isTry: false };
  }

  /** What is stored for later must still be worth it then. */
  #settle(item: Item, receivedAt: number): SettledItem {
    const { timings, clock } = this.#options;
    const { notification, hasOwnId, isRepeat } = item;
    const answerTimeout = Math.max(timings.fcmTimeoutMilliseconds, timings.apns.requestTimeoutMilliseconds);
    const attempt: Attempt = item.attempt ?? {
      kind: 'retry',
      reason: 'UNDER_WAY',
      // Later than anything that is under way can last, so that the stored try never runs beside it.
      at: Math.max(clock(), receivedAt) + 3 * answerTimeout,
      isTry: true,
      isInDoubt: true,
    };
    const isWorthless = attempt.kind === 'retry' && !isRepeat && attempt.at >= expiresAt(notification);
    const settled: Attempt = isWorthless
      ? { kind: 'rejected', reason: `EXPIRED_${attempt.reason}`, fault: 'vendor' }
      : attempt;
    return { notification, hasOwnId, isRepeat, attempt: settled };
  }

  async #endLate(item: Item, attempt: Attempt, stored: Promise<void>): Promise<void> {
    const { load, records, log } = this.#options;
    load.leave(1);
    const { notification } = item;
    if (item.following !== undefined) return;
    await stored;
    try {
      await records.recordLate(notification, attempt, item.attempt?.kind === 'retry');
    } catch (err) {
      log.error(
        { err, device: notification.relayDeviceId },
        'the end of a late delivery could not be stored',
      );
    }
  }

  #findDevices(items: readonly Item[]): Promise<Map<number, StoredRelayDevice>> {
    const { database, tokenVault: vault } = this.#options;
    const ids = [...new Set(items.map(({ notification }) => notification.relayDeviceId))].filter(
      Number.isSafeInteger,
    );
    const realmId = items[0]?.notification.realmId;
    if (realmId === undefined) return Promise.resolve(new Map());
    return findRelayDevices(database.db, { realmId, ids, vault });
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

export interface SettledItem {
  readonly notification: Notification;
  readonly attempt: Attempt;
  readonly hasOwnId: boolean;
  readonly isRepeat: boolean;
}

function attemptOf({ status, reason = '', fault = 'vendor' }: Receipt): Attempt {
  switch (status) {
    case 'sent':
      return { kind: 'sent' };
    case 'queued':
      return { kind: 'retry', reason, at: 0, isTry: false };
    case 'gone':
      return { kind: 'gone', reason };
    case 'rejected':
      return { kind: 'rejected', reason, fault };
  }
}
