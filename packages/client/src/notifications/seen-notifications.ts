import type { PushAccountId } from '@waxwing/protocol/phone';
import { noneSeen, type SeenOfAccount, withNotification } from './seen-of-account.js';

/** What tells an opened notification apart from all others. */
export interface SeenNotification {
  /** The account that it is for: two organizations on one phone may use the same `time` and `name`. */
  readonly pushAccountId: PushAccountId;
  /** Unix seconds by the server's clock; the same however often the server sends one message. */
  readonly time: number;
  /** Four characters of base64: a digest, which tells notifications of one account and `time` apart. */
  readonly name: string;
}

/**
 * Remembers which notifications the phone has opened, so that a vendor or a relay cannot replay one.
 *
 * An implementation keeps for each account a bounded set of notifications and a watermark: the latest `time` that it
 * evicted from the set. Without the watermark, a notification could be replayed once enough newer ones have evicted it.
 */
export interface SeenNotifications {
  /**
   * Adds a notification; `false` for a repeat, which is not shown. A repeat is in its account's set, or its `time` is not
   * later than the account's watermark. A full set evicts the notification with the smallest `time`, which may be the
   * one just added, and its `time` becomes the watermark. Check and change are one step: of two calls at once with the
   * same notification, one answers `false`.
   */
  addIfNew(notification: SeenNotification): Promise<boolean>;
  /** Forgets an account whose key pair is gone. Forgetting an unknown account is no error. */
  forget(pushAccountId: PushAccountId): Promise<void>;
}

const defaultCapacity = 2000;

/** The newest `capacity` notifications of each account, in memory: for tests. An app keeps them on the phone. */
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
    async forget(pushAccountId) {
      accounts.delete(pushAccountId);
    },
  };
}
