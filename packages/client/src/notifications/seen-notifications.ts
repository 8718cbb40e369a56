import type { PushAccountId } from '@waxwing/protocol/phone';
import { mergeSeen, noneSeen, type SeenOfAccount, withNotification } from './seen-of-account.js';

/** Key that identifies an opened notification. */
export interface SeenNotification {
  /** The recipient account: two organizations on one phone may use the same `time` and `name`. */
  readonly pushAccountId: PushAccountId;
  /** Unix seconds according to the server's clock. The same each time the server resends a message. */
  readonly time: number;
  /** Four base64 characters of a digest. Distinguishes notifications of one account that have the same `time`. */
  readonly name: string;
}

/**
 * Replay protection: records which notifications the phone has opened, so that a vendor or relay cannot make the phone
 * show a notification twice (docs/protocol.md#replay).
 *
 * For each account, an implementation keeps a bounded set of notifications and a watermark: the latest `time` that it
 * evicted from the set. Without the watermark, a notification could be replayed once enough newer notifications have
 * evicted it.
 */
export interface SeenNotifications {
  /**
   * Adds a notification. Returns `false` for a repeat, which must not be shown. A notification is a repeat if it is in
   * its account's set, or if its `time` is not later than the account's watermark. A full set evicts the notification
   * with the smallest `time`, which may be the one just added. That `time` becomes the watermark.
   *
   * Must be atomic: of two concurrent calls with the same notification, exactly one returns `true`.
   */
  addIfNew(notification: SeenNotification): Promise<boolean>;
  /**
   * Copies the records of account `from` to account `to`, which takes over the keys of `from`. Without this copy,
   * notifications that were opened with those keys could be replayed. The records of `from` do not change. A full set
   * evicts as in `addIfNew`, and the later of the two watermarks applies. Idempotent.
   */
  copy(from: PushAccountId, to: PushAccountId): Promise<void>;
  /** Deletes the records of an account. Call this only after its key pair is gone. Idempotent. */
  forget(pushAccountId: PushAccountId): Promise<void>;
}

const defaultCapacity = 2000;

/**
 * In-memory set of the newest `capacity` (default 2000) notifications per account, for tests. Apps must persist the
 * set.
 */
export function createMemorySeenNotifications(capacity: number = defaultCapacity): SeenNotifications {
  const accounts = new Map<PushAccountId, SeenOfAccount>();
  return {
    async addIfNew(notification) {
      const { pushAccountId } = notification;
      const seen = withNotification(accounts.get(pushAccountId) ?? noneSeen, notification, capacity);
      if (seen === undefined) return false;
      accounts.set(pushAccountId, seen);
      return true;
    },
    async copy(from, to) {
      const seen = accounts.get(from);
      if (seen !== undefined) accounts.set(to, mergeSeen(accounts.get(to) ?? noneSeen, seen, capacity));
    },
    async forget(pushAccountId) {
      accounts.delete(pushAccountId);
    },
  };
}
