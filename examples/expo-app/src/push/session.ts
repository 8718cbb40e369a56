import type { SignedInAccount } from '@waxwing/client';
import { startPhone } from './phone';
import { shareKeys, unshareKeys } from './share-keys';
import { sharedKeys } from './shared-keys';

/** Push for one account, from sign-in to sign-out. */
export interface Session {
  /** Registers the account, or keeps it registered. Resolves to a sentence for the user. */
  sync(): Promise<string>;
  /** Makes the server send a test notification. Call this after `sync`. */
  sendTestNotification(): Promise<void>;
  signOut(): Promise<void>;
}

/** Starts push for an account. Start a new session for each sign-in: after `signOut`, a session registers nothing. */
export async function startSession(account: SignedInAccount): Promise<Session> {
  const { client, accounts } = await startPhone();
  const registrar = client.registrar(account);
  let isSignedOut = false;
  return {
    async sync() {
      const { sentence } = await registrar.sync();
      if (!isSignedOut) await shareKeys(accounts, sharedKeys);
      return sentence;
    },
    sendTestNotification: () => registrar.sendTestNotification(),
    async signOut() {
      isSignedOut = true;
      await unshareKeys(accounts, sharedKeys, account);
      await registrar.forget();
    },
  };
}
