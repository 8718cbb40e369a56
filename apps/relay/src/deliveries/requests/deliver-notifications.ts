import type { AnyPushRequest } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { FoundTokenDevices } from '../../registrations/store/devices-by-token.js';
import { hasReadableToken } from '../../registrations/store/relay-device.js';
import type { TokenVault } from '../../registrations/store/token-vault.js';
import type { RelayDatabase } from '../../tables.js';
import type { AttemptOptions, DeliveryAttempts } from '../attempts/attempt-delivery.js';
import { type EncryptedNotification, expiresAt, isOfKind } from '../delivery.js';
import type { DeliveryTimings } from '../delivery-timings.js';
import type { Outcome } from '../policy/judge-answer.js';
import type { LoadLimit } from '../queue/load-limit.js';
import { keyOf, outcomeOf, type Receipt, type ReceiptStore } from '../queue/receipt-store.js';
import { mustBeRecorded, type RecordOutcomes } from '../queue/record-outcomes.js';
import { DeliveryClaims } from './delivery-claims.js';
import type { DeliveryFailures } from './delivery-failures.js';
import { type DeliveryClaim, DeliveryItem, unknownDevice } from './delivery-item.js';
import { DeviceLookUps, type FoundDevices } from './device-look-ups.js';
import { type NotifyRequester, readPushRequest } from './read-push-request.js';
import { Tries, VendorDeadlines } from './vendor-deadlines.js';
import type { WaitingServer } from './waiting-server.js';

/** The notification from one push request, and its outcome. */
export interface DeliveryResult {
  readonly notification: EncryptedNotification;
  readonly outcome: Outcome;
  /** Whether the server can query the notification's receipt. */
  readonly isRemembered: boolean;
}

export interface DeliverNotificationsOptions {
  readonly database: RelayDatabase;
  readonly tokenVault: TokenVault;
  readonly clock: Clock;
  readonly failures: Pick<DeliveryFailures, 'note'>;
  readonly attempts: DeliveryAttempts;
  readonly receipts: ReceiptStore;
  readonly records: RecordOutcomes;
  readonly load: LoadLimit;
  readonly timings: DeliveryTimings;
}

/** A request after its tokens were looked up. */
interface Arrival {
  /** Devices and ended keys for the request's tokens; `undefined` if the request names no token. */
  readonly tokens: FoundTokenDevices | undefined;
  /** Unix milliseconds. */
  readonly now: number;
  readonly server: WaitingServer;
}

/** Stored data about a request's devices and notifications, read before sending. */
interface Known {
  readonly devices: FoundDevices;
  readonly tokens: Arrival['tokens'];
  readonly remembered: ReadonlyMap<string, Receipt>;
  /** When the request arrived, in Unix milliseconds. */
  readonly now: number;
}

const internalRetryMilliseconds = 5000;
/** Maximum number of items to start in one event-loop tick: about ten milliseconds of work. */
const itemsAtOnce = 250;
const nothing: ReadonlyMap<string, Receipt> = new Map();
const wrongKind: Outcome = { kind: 'rejected', reason: 'WRONG_KIND', fault: 'server' };

/**
 * Makes the first attempt for all notifications in a request, within its time budget. Queues unfinished notifications
 * before it returns. Idempotent for notifications with an id while their receipts are kept.
 */
export class DeliverNotifications {
  readonly #options: DeliverNotificationsOptions;
  readonly #claims = new DeliveryClaims();
  readonly #waits: VendorDeadlines;
  readonly #lookUps: DeviceLookUps;

  constructor(options: DeliverNotificationsOptions) {
    this.#options = options;
    this.#waits = new VendorDeadlines(options.timings.requestBudgetMilliseconds);
    this.#lookUps = new DeviceLookUps(options);
  }

  /** See {@link LoadLimit.requireRoom}. */
  requireRoom(serverId: string, notifications: number): void {
    this.#options.load.requireRoom(serverId, notifications);
  }

  /**
   * Delivers the notifications of a request. Returns one durable result per push request, in order.
   * @throws ProtocolError SERVICE_UNAVAILABLE if the relay is at its limit. AbortError if the server disconnected
   * before the first attempt: then nothing is sent, because the server repeats the request.
   */
  async deliver(
    requester: NotifyRequester,
    requests: readonly AnyPushRequest[],
    server: WaitingServer,
  ): Promise<DeliveryResult[]> {
    const tokens = await this.#lookUps.findTokens(requester.realmId, requests);
    const now = this.#options.clock();
    const items = requests.map((request) => {
      const notification = readPushRequest(request, requester, tokens, now);
      // Device ids are safe integers, so any other id has neither a device nor a receipt.
      const hasOwnId = request.notification_id != null && Number.isSafeInteger(notification.relayDeviceId);
      return new DeliveryItem(notification, hasOwnId);
    });
    const { serverId } = requester;
    this.#options.load.enter(serverId, items.length);
    const withId = items.filter(({ hasOwnId }) => hasOwnId);
    const own = withId.length > 0 ? this.#claims.findRepeats(withId) : undefined;
    const delivered = this.#deliver(serverId, items, { tokens, now, server });
    if (own !== undefined) this.#claims.claim(own, delivered);
    return delivered;
  }

  /** Like {@link deliver}, but for parsed notifications whose ids the relay generated. */
  deliverRead(
    serverId: string,
    notifications: readonly EncryptedNotification[],
    server: WaitingServer,
  ): Promise<DeliveryResult[]> {
    const now = this.#options.clock();
    const items = notifications.map((notification) => new DeliveryItem(notification, false));
    this.#options.load.enter(serverId, items.length);
    return this.#deliver(serverId, items, { tokens: undefined, now, server });
  }

  /** Graceful shutdown: requests stop waiting for vendors, and attempts in flight are queued for a retry. */
  waitNoLonger(): void {
    this.#waits.end();
  }

  /** Resolves when every item has an outcome and all outcomes are durable. */
  async #deliver(
    serverId: string,
    items: readonly DeliveryItem[],
    { tokens, now, server }: Arrival,
  ): Promise<DeliveryResult[]> {
    const { load, records } = this.#options;
    let late: readonly DeliveryItem[] = [];
    let isRecorded = false;
    try {
      const notifications = items.map(({ notification }) => notification);
      const devices = await this.#lookUps.find(notifications, tokens);
      const withId = items.filter(({ hasOwnId }) => hasOwnId);
      const remembered = withId.length > 0 ? await this.#recall(serverId, withId) : nothing;
      // The server may have disconnected while the database was read.
      server.requireClient();
      const tries = new Tries();
      for (let start = 0; start < items.length; start += itemsAtOnce) {
        if (start > 0) await server.nextTick();
        this.#begin(items.slice(start, start + itemsAtOnce), { devices, tokens, remembered, now }, tries);
      }
      const waiting = this.#waits.wait(tries);
      if (waiting !== undefined) await waiting;
      // The outcome of another request may be reported here only after that request has stored it.
      for (const { follows, trying } of items) if (follows !== undefined) await trying;
      late = items.filter(({ ended }) => ended === undefined);
      for (const item of items) item.outcome = this.#settle(item, now);
      const toRecord = items.filter(mustBeRecorded);
      if (toRecord.length > 0) {
        const status = await records.record(toRecord);
        for (const [index, item] of toRecord.entries()) item.outcome = status[index] ?? item.outcome;
      }
      isRecorded = true;
    } finally {
      load.leave(serverId, items.length - late.length);
      // Must follow `record`, which would otherwise overwrite the newer outcome with the reported one.
      for (const item of late) void this.#endLate(item, isRecorded && item.outcome.kind === 'retry');
    }
    return items.map(({ notification, hasOwnId, sameAs, outcome: own }) => {
      const outcome = sameAs?.outcome ?? own;
      return { notification, outcome, isRemembered: hasOwnId || outcome.kind === 'retry' };
    });
  }

  /** Starts the attempts and settles items that need no vendor. Adds the attempts in flight to `tries`. */
  #begin(items: readonly DeliveryItem[], { devices, tokens, remembered, now }: Known, tries: Tries): void {
    const { attempts, timings } = this.#options;
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
      } else if (tokens?.hasEndedKey(notification)) {
        item.ended = attempts.refuse(notification, 'PUSH_KEY_ENDED');
      } else if (hasReadableToken(device)) {
        // Also sends to a token that was dead and has been registered again.
        tries.begin();
        item.trying = this.#try(item, attempts.attempt({ notification, device }, options), tries);
      } else {
        item.ended = attempts.refuseUnreadable(notification, device);
      }
    }
  }

  #try(item: DeliveryItem, attempt: Promise<Outcome>, tries: Tries): Promise<void> {
    const end = (outcome: Outcome): void => {
      item.ended = outcome;
      tries.end();
    };
    return attempt.then(end, (err) => {
      this.#options.failures.note('try', err, item.notification.relayDeviceId);
      end(this.#retrySoon());
    });
  }

  async #follow(item: DeliveryItem, { item: first, stored }: DeliveryClaim): Promise<void> {
    try {
      await stored;
      item.ended = first.outcome;
    } catch (err) {
      // The other request could not store its outcome. It may or may not have delivered the notification: retry.
      this.#options.failures.note('repeat', err, item.notification.relayDeviceId);
      item.isRepeat = false;
      item.ended = this.#retrySoon();
    }
  }

  #retrySoon(): Outcome {
    const at = this.#options.clock() + internalRetryMilliseconds;
    return { kind: 'retry', reason: 'INTERNAL', at, isTry: false };
  }

  /** Returns the outcome to report. An unfinished item is retried, or rejected if it expires before the retry. */
  #settle({ notification, isRepeat, ended }: DeliveryItem, receivedAt: number): Outcome {
    const { timings, clock } = this.#options;
    const answerTimeout = Math.max(timings.fcmTimeoutMilliseconds, timings.apns.requestTimeoutMilliseconds);
    const outcome: Outcome = ended ?? {
      kind: 'retry',
      reason: 'UNDER_WAY',
      // Later than the attempt in flight can end: the stored retry must never run concurrently with it.
      at: Math.max(clock(), receivedAt) + 3 * answerTimeout,
      isTry: true,
      isInDoubt: true,
    };
    const isExpired = outcome.kind === 'retry' && !isRepeat && outcome.at >= expiresAt(notification);
    return isExpired ? { kind: 'rejected', reason: `EXPIRED_${outcome.reason}`, fault: 'vendor' } : outcome;
  }

  /** Waits for the vendor's late response, frees the slot and records the outcome. */
  async #endLate(item: DeliveryItem, wasQueued: boolean): Promise<void> {
    const { load, records, failures } = this.#options;
    await item.trying;
    load.leave(item.notification.serverId, 1);
    const { notification, ended = this.#retrySoon() } = item;
    try {
      await records.recordLate(notification, ended, wasQueued);
    } catch (err) {
      failures.note('late outcome', err, notification.relayDeviceId);
    }
  }

  async #recall(serverId: string, withId: readonly DeliveryItem[]): Promise<Map<string, Receipt>> {
    const ids = [...new Set(withId.map(({ notification }) => notification.notificationId))];
    const found = await this.#options.receipts.find(serverId, ids);
    return new Map(found.map((receipt) => [keyOf(receipt), receipt]));
  }
}
