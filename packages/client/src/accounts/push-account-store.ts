import type { PushAccountId } from '@waxwing/protocol/phone';
import type { PushAccount } from './push-account.js';

/**
 * The phone's account table. An app keeps it where the system keeps secrets (Keychain, Keystore), readable for the
 * part that opens notifications; `encodePushAccount` makes a row text. What `put` has taken must survive a restart.
 */
export interface PushAccountStore {
  get(pushAccountId: PushAccountId): Promise<PushAccount | undefined>;
  /** Inserts the account, or replaces the one with the same id. */
  put(account: PushAccount): Promise<void>;
  list(): Promise<readonly PushAccount[]>;
  /** Removing what is not there is no error. */
  remove(pushAccountId: PushAccountId): Promise<void>;
}

/** An account table in memory: for tests, and for programs that register again each time they start. */
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
