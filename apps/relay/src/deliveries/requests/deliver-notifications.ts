import type { PushRequest, RelayDeviceId } from '@waxwing/protocol';
import { Batcher, type Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { hasReadableToken } from '../../registrations/store/relay-device.js';
import { type FoundRelayDevices, findRelayDevices } from '../../registrations/store/relay-device-store.js';
import type { TokenVault } from '../../registrations/store/token-vault.js';
import type { RelayDatabase } from '../../tables.js';
import type { AttemptOptions, DeliveryAttempts } from '../attempts/attempt-delivery.js';
import { type EncryptedNotification, expiresAt, isOfKind } from '../delivery.js';
import type { DeliveryTimings } from '../delivery-timings.js';
import type { Outcome } from '../policy/judge-answer.js';
import type { LoadLimit } from '../queue/load-limit.js';
import { outcomeOf, type Receipt, type ReceiptKey, type ReceiptStore } from '../queue/receipt-store.js';
import { type FirstOutcome, mustBeRecorded, type RecordOutcomes } from '../queue/record-outcomes.js';
import { type NotifyRequester, readPushRequest } from './read-push-request.js';
import { Tries, VendorWaits } from './vendor-waits.js';

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

/** One push request on its way. Of a class, so that what comes later has its place from the start. */
class Item implements FirstOutcome {
  readonly notification: EncryptedNotification;
  readonly hasOwnId: boolean;
  /** Whether another request or an earlier item has it, so that nothing is to be recorded. */
  isRepeat = false;
  /** The earlier item of this request that it repeats. */
  sameAs: Item | undefined = undefined;
  /** The request that is busy with it already. */
  follows: Claim | undefined = undefined;
  /** Ends when `ended` is there; `undefined` where it was there at once. Never rejects. */
  trying: Promise<void> | undefined = undefined;
  /** What its try came to; `undefined` while it is under way. */
  ended: Outcome | undefined = undefined;
  /** What the answer says of it, which is on the disk then. */
  outcome: Outcome = unknownDevice;

  constructor(notification: EncryptedNotification, hasOwnId: boolean) {
    this.notification = notification;
    this.hasOwnId = hasOwnId;
  }
}

/** A notification with an id that a request of this process is busy with. */
interface Claim {
  readonly item: Item;
  /** Ends when what came of the whole request is on the disk; rejects when that could not be stored. */
  readonly stored: Promise<unknown>;
}

/** What is known when a request's notifications are to be sent. */
interface Known {
  readonly devices: FoundRelayDevices;
  readonly remembered: ReadonlyMap<string, Receipt>;
  /** When the request came, in Unix milliseconds. */
  readonly now: number;
}

const internalRetryMilliseconds = 5000;
const nothing: ReadonlyMap<string, Receipt> = new Map();
const unknownDevice: Outcome = { kind: 'gone', reason: 'UNKNOWN_DEVICE' };
const wrongKind: Outcome = { kind: 'rejected', reason: 'WRONG_KIND', fault: 'server' };

/** The first try of every notification of a request, within its budget; what is left over is stored before it returns. */
export class DeliverNotifications {
  readonly #options: DeliverNotificationsOptions;
  /** From a request's arrival until what came of it is stored: a repeat waits for that instead of sending again. */
  readonly #claims = new Map<string, Claim>();
  readonly #waits: VendorWaits;
  readonly #lookUps: Batcher<readonly RelayDeviceId[], FoundRelayDevices>;

  constructor(options: DeliverNotificationsOptions) {
    this.#options = options;
    this.#waits = new VendorWaits(options.timings.requestBudgetMilliseconds);
    this.#lookUps = new Batcher(async (wanted) => {
      const found = await findRelayDevices(options.database.db, wanted.flat(), options.tokenVault);
      return wanted.map(() => found);
    });
  }

  /** See {@link LoadLimit.requireRoom}. */
  requireRoom(serverId: string, notifications: number): void {
    this.#options.load.requireRoom(serverId, notifications);
  }

  /**
   * One result for each request, in order; what they say is durable.
   * @throws ProtocolError SERVICE_UNAVAILABLE when the relay is full.
   */
  deliver(requester: NotifyRequester, requests: readonly PushRequest[]): Promise<DeliveryResult[]> {
    const now = this.#options.clock();
    const items = requests.map((request) => {
      const notification = readPushRequest(request, requester, now);
      // A number that no device can have can be in no receipt either.
      const hasOwnId = request.notification_id != null && Number.isSafeInteger(notification.relayDeviceId);
      return new Item(notification, hasOwnId);
    });
    this.#options.load.enter(requester.serverId, items.length);
    const withId = items.filter(({ hasOwnId }) => hasOwnId);
    const own = withId.length > 0 ? this.#findRepeats(withId) : undefined;
    const delivered = this.#deliver(requester, items, now);
    if (own !== undefined) this.#claim(own, delivered);
    return delivered;
  }

  /** From now on no request waits for vendors: what is under way is stored for a later try. For closing. */
  waitNoLonger(): void {
    this.#waits.end();
  }

  /** The items that are this request's to deliver, by their keys; the others are marked as repeats. */
  #findRepeats(withId: readonly Item[]): Map<string, Item> {
    const own = new Map<string, Item>();
    for (const item of withId) {
      const key = keyOf(item.notification);
      item.sameAs = own.get(key);
      if (item.sameAs === undefined) item.follows = this.#claims.get(key);
      item.isRepeat = item.sameAs !== undefined || item.follows !== undefined;
      if (!item.isRepeat) own.set(key, item);
    }
    return own;
  }

  /** Has repeats wait until all that a request came to is stored. */
  #claim(own: ReadonlyMap<string, Item>, stored: Promise<unknown>): void {
    for (const [key, item] of own) this.#claims.set(key, { item, stored });
    const release = (): void => {
      for (const key of own.keys()) this.#claims.delete(key);
    };
    stored.then(release, release);
  }

  /** Ends when each item has an outcome, and all of them are on the disk. */
  async #deliver(
    { serverId }: NotifyRequester,
    items: readonly Item[],
    now: number,
  ): Promise<DeliveryResult[]> {
    const { load, records } = this.#options;
    let late: readonly Item[] = [];
    let isRecorded = false;
    try {
      const ids = items.map(({ notification }) => notification.relayDeviceId);
      const devices = await this.#lookUps.add(ids.filter(Number.isSafeInteger));
      const withId = items.filter(({ hasOwnId }) => hasOwnId);
      const remembered = withId.length > 0 ? await this.#recall(serverId, withId) : nothing;
      const waiting = this.#waits.wait(this.#begin(items, { devices, remembered, now }));
      if (waiting !== undefined) await waiting;
      // What another request has is on the disk soon, and only then may this one's answer say so.
      for (const { follows, trying } of items) if (follows !== undefined) await trying;
      late = items.filter(({ ended }) => ended === undefined);
      for (const item of items) item.outcome = this.#settle(item, now);
      const toRecord = items.filter(mustBeRecorded);
      if (toRecord.length > 0) {
        const standing = await records.record(toRecord);
        for (const [index, item] of toRecord.entries()) item.outcome = standing[index] ?? item.outcome;
      }
      isRecorded = true;
    } finally {
      load.leave(serverId, items.length - late.length);
      // Only now, or what the answer said would be taken for the newer.
      for (const item of late) void this.#endLate(item, isRecorded && item.outcome.kind === 'retry');
    }
    return items.map(({ notification, hasOwnId, sameAs, outcome: own }) => {
      const outcome = sameAs?.outcome ?? own;
      return { notification, outcome, isRemembered: hasOwnId || outcome.kind === 'retry' };
    });
  }

  /** Sends what is to be sent; what needs no vendor has ended then. The tries that are under way. */
  #begin(items: readonly Item[], { devices, remembered, now }: Known): Tries {
    const { attempts, timings } = this.#options;
    const tries = new Tries();
    const options: AttemptOptions = {
      triesBefore: 0,
      doubtsBefore: 0,
      hasWaited: false,
      notAfter: now + timings.requestBudgetMilliseconds,
    };
    for (const item of items) {
      const { notification, follows } = item;
      const device = devices.find(notification);
      const receipt = item.hasOwnId ? remembered.get(keyOf(notification)) : undefined;
      if (item.sameAs !== undefined || device === undefined || device.expiredAt !== undefined) {
        item.ended = unknownDevice;
        item.isRepeat ||= receipt !== undefined;
      } else if (hasReadableToken(device) && !isOfKind(device, notification)) {
        item.ended = wrongKind;
      } else if (follows !== undefined) {
        tries.begin();
        item.trying = this.#follow(item, follows).then(() => tries.end());
      } else if (receipt !== undefined && receipt.status !== 'gone') {
        item.ended = outcomeOf(receipt);
        item.isRepeat = true;
      } else if (hasReadableToken(device)) {
        // Also a token that was dead and was registered again since: it deserves another try.
        tries.begin();
        item.trying = this.#try(item, attempts.attempt({ notification, device }, options), tries);
      } else {
        item.ended = attempts.refuseUnreadable(notification, device);
      }
    }
    return tries;
  }

  #try(item: Item, attempt: Promise<Outcome>, tries: Tries): Promise<void> {
    const end = (outcome: Outcome): void => {
      item.ended = outcome;
      tries.end();
    };
    return attempt.then(end, (err) => {
      this.#options.log.error(
        { err, device: item.notification.relayDeviceId },
        'a delivery could not be tried',
      );
      end(this.#retrySoon());
    });
  }

  async #follow(item: Item, { item: first, stored }: Claim): Promise<void> {
    try {
      await stored;
      item.ended = first.outcome;
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
  #settle({ notification, isRepeat, ended }: Item, receivedAt: number): Outcome {
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
    return isWorthless ? { kind: 'rejected', reason: `EXPIRED_${outcome.reason}`, fault: 'vendor' } : outcome;
  }

  /** What is late leaves when its vendor has answered. */
  async #endLate(item: Item, wasQueued: boolean): Promise<void> {
    const { load, records, log } = this.#options;
    await item.trying;
    load.leave(item.notification.serverId, 1);
    const { notification, ended = this.#retrySoon() } = item;
    try {
      await records.recordLate(notification, ended, wasQueued);
    } catch (err) {
      log.error(
        { err, device: notification.relayDeviceId },
        'the end of a late delivery could not be stored',
      );
    }
  }

  async #recall(serverId: string, withId: readonly Item[]): Promise<Map<string, Receipt>> {
    const ids = [...new Set(withId.map(({ notification }) => notification.notificationId))];
    const found = await this.#options.receipts.find(serverId, ids);
    return new Map(found.map((receipt) => [keyOf(receipt), receipt]));
  }
}

/** Tells one notification for one device from all others. */
function keyOf({ serverId, notificationId, relayDeviceId, pushAccountId }: ReceiptKey): string {
  return `${serverId} ${notificationId} ${relayDeviceId} ${pushAccountId}`;
}
