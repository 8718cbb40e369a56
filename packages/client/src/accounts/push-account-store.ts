import type { PushAccountId } from '@waxwing/protocol/phone';
import type { PushAccount } from './push-account.js';

/**
 * The phone's account table, one row per account. Keep it in the system's secret storage (Keychain, Keystore),
 * readable for the code that opens notifications. {@link encodePushAccount} turns a row into text. What `put` has
 * stored must survive a restart.
 */
export interface PushAccountStore {
  get(pushAccountId: PushAccountId): Promise<PushAccount | undefined>;
  /** Upserts the account by its id. */
  put(account: PushAccount): Promise<void>;
  list(): Promise<readonly PushAccount[]>;
  /** Idempotent: removing an unknown id is not an error. */
  remove(pushAccountId: PushAccountId): Promise<void>;
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
