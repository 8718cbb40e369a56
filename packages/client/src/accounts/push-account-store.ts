import type { PushAccountId } from '@waxwing/protocol/phone';
import type { AccountIdentity, PushAccount } from './push-account.js';

/**
 * The phone's account table, one row per account. Keep it in the system's secret storage (Keychain, Keystore), where
 * the code that opens notifications can read it. {@link encodePushAccount} converts a row to text. Stored rows must
 * survive a restart.
 */
export interface PushAccountStore {
  get(pushAccountId: PushAccountId): Promise<PushAccount | undefined>;
  /** Upserts the account by its id. */
  put(account: PushAccount): Promise<void>;
  /**
   * Adds an account unless the table already has one for the same user and organization. Returns the account that is
   * now in the table. Must be atomic. Optional: without this method, clients in two tabs can each add an account, and
   * the next sync drops one of them.
   */
  addIfAbsent?(account: PushAccount): Promise<PushAccount>;
  list(): Promise<readonly PushAccount[]>;
  /** Idempotent: removing an unknown id is not an error. */
  remove(pushAccountId: PushAccountId): Promise<void>;
  /**
   * Records that the account was signed out at `at` (Unix milliseconds). Other tabs and processes then stop registering
   * the account. Optional, but implement it together with `lastSignOut`. Without these methods, only clients that use
   * the same store object notice a sign-out.
   */
  noteSignOut?(account: AccountIdentity, at: number): Promise<void>;
  /**
   * Returns the time of the account's last sign-out, or `undefined` if it was never signed out. Each sign-out has a
   * later time than the one before it.
   */
  lastSignOut?(account: AccountIdentity): Promise<number | undefined>;
  /**
   * Optional. Returns a description of data that the store dropped since the last call, for the `warning` of the next
   * status.
   */
  takeWarning?(): string | undefined;
}

/** In-memory account table for tests, and for programs that register each time they start. */
export function createMemoryPushAccountStore(): PushAccountStore {
  const accounts = new Map<PushAccountId, PushAccount>();
  return {
    get: async (pushAccountId) => accounts.get(pushAccountId),
    async put(account) {
      accounts.set(account.pushAccountId, account);
    },
    list: async () => [...accounts.values()],
    async remove(pushAccountId) {
      accounts.delete(pushAccountId);
    },
  };
}
