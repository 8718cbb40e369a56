import type { PushAccountId } from '@waxwing/protocol/phone';

/**
 * An account that was signed out and whose server may not know it yet. It holds the API key, which is needed to say so:
 * keep it where the accounts are.
 */
export interface ForgottenAccount {
  readonly pushAccountId: PushAccountId;
  readonly realmUrl: string;
  readonly email: string;
  readonly apiKey: string;
  /** Unix milliseconds by the device's clock. */
  readonly forgottenAt: number;
}

/** The accounts that servers have yet to be told of. What `put` has taken must survive a restart. */
export interface ForgottenAccountStore {
  put(account: ForgottenAccount): Promise<void>;
  list(): Promise<readonly ForgottenAccount[]>;
  /** Removing what is not there is no error. */
  remove(pushAccountId: PushAccountId): Promise<void>;
}

/** A store in memory: for tests, and for apps that leave a server to find out by itself after a restart. */
export function createMemoryForgottenAccountStore(): ForgottenAccountStore {
  const accounts = new Map<PushAccountId, ForgottenAccount>();
  return {
    async put(account) {
      accounts.set(account.pushAccountId, account);
    },
    list: async () => [...accounts.values()],
    async remove(pushAccountId) {
      accounts.delete(pushAccountId);
    },
  };
}
