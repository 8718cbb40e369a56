import type { ClientDeviceId, PushAccountId } from '@waxwing/protocol/phone';

/**
 * A signed-out account whose server may not know about the sign-out yet. Contains the API key for notifying the server,
 * so store sign-outs as securely as accounts.
 */
export interface ForgottenAccount {
  readonly pushAccountId: PushAccountId;
  /** Id that the server assigned to this phone in the newer generation; absent if there is none. */
  readonly deviceId?: ClientDeviceId;
  readonly realmUrl: string;
  readonly email: string;
  readonly apiKey: string;
  /** Unix milliseconds according to the device's clock. */
  readonly forgottenAt: number;
  /** Revocations that end the account's registrations with the relay; absent if there is nothing to revoke. */
  readonly revocations?: readonly SealedRevocation[];
}

/** A revocation that only the relay can decrypt. */
export interface SealedRevocation {
  /** Base64, like `encryptedPushRevocation`. */
  readonly bouncerPublicKey: string;
  readonly encryptedPushRevocation: string;
}

/** Stores sign-outs until their servers are notified. Stored sign-outs must survive a restart. */
export interface ForgottenAccountStore {
  put(account: ForgottenAccount): Promise<void>;
  list(): Promise<readonly ForgottenAccount[]>;
  /** Idempotent: removing an unknown id is not an error. */
  remove(pushAccountId: PushAccountId): Promise<void>;
}

/** In-memory store for tests, and for apps that do not need to send pending sign-outs after a restart. */
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
