import type { PushAccountId } from '@waxwing/protocol/phone';
import type { AccountIdentity, PushAccount } from './push-account.js';

/**
 * The phone's account table, one row per account. Keep it in the system's secret storage (Keychain, Keystore),
 * readable for the code that opens notifications. {@link encodePushAccount} turns a row into text. What `put` has
 * stored must survive a restart.
 */
export interface PushAccountStore {
  get(pushAccountId: PushAccountId): Promise<PushAccount | undefined>;
  /** Upserts the account by its id. */
  put(account: PushAccount): Promise<void>;
  /**
   * Adds an account, unless the table has one of the same user and organization. Returns the one that the table has
   * then. Must be atomic. Optional: without it, clients in two tabs can each add one, and the next sync drops one of
   * them.
   */
  addIfAbsent?(account: PushAccount): Promise<PushAccount>;
  list(): Promise<readonly PushAccount[]>;
  /** Idempotent: removing an unknown id is not an error. */
  remove(pushAccountId: PushAccountId): Promise<void>;
  /**
   * Notes that the account is signed out, at a time in Unix milliseconds. Other tabs and processes then stop to register
   * it. Optional, with `lastSignOut`: without them, only clients on the same store object learn of a sign-out.
   */
  noteSignOut?(account: AccountIdentity, at: number): Promise<void>;
  /** Returns when the account was last signed out; later for each sign-out. `undefined` if it never was. */
  lastSignOut?(account: AccountIdentity): Promise<number | undefined>;
  /** Returns what the store had to drop since the last call, as a `warning` of the next status. Optional. */
  takeWarning?(): string | undefined;
}

/** In-memory account table: for tests, and for programs that register at each start. */
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
