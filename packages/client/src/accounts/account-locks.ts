import { acrossTabs, createKeyedMutex } from '../mutex.js';
import { type AccountIdentity, accountName } from './push-account.js';
import type { PushAccountStore } from './push-account-store.js';

/**
 * State shared by all clients on one account table. Otherwise two clients of one app (React's StrictMode runs an effect
 * twice, for example) would register an account twice.
 */
export interface AccountLocks {
  /** Runs a task when no other task of this account is running, in this tab or another one. */
  exclusively<T>(account: AccountIdentity, task: () => Promise<T>): Promise<T>;
}

const locksOf = new WeakMap<PushAccountStore, AccountLocks>();

/** Returns the locks of an account table. The same object always gets the same locks. */
export function accountLocksOf(accounts: PushAccountStore): AccountLocks {
  const locks = locksOf.get(accounts) ?? createAccountLocks();
  locksOf.set(accounts, locks);
  return locks;
}

function createAccountLocks(): AccountLocks {
  const exclusively = createKeyedMutex();
  return {
    exclusively(account, task) {
      const name = accountName(account);
      return exclusively(name, () => acrossTabs(`waxwing.account ${name}`, task));
    },
  };
}
