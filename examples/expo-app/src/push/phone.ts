import {
  createPushClient,
  createTextStores,
  type PushAccountStore,
  type PushClient,
  type TextStorage,
} from '@waxwing/client';
import { readPushToken } from './push-token';
import { openStorage } from './storage';

/** The push client with its accounts, and the encrypted storage, which the app also uses. */
export interface Phone {
  readonly client: PushClient;
  readonly accounts: PushAccountStore;
  readonly storage: TextStorage;
}

let started: Promise<Phone> | undefined;

/** Starts the push client, once for the app and its background tasks. */
export function startPhone(): Promise<Phone> {
  started ??= createPhone().catch((error: unknown) => {
    started = undefined;
    throw error;
  });
  return started;
}

async function createPhone(): Promise<Phone> {
  const storage = await openStorage();
  const { accounts, seen, forgotten, keyList: store } = createTextStores(storage);
  const client = await createPushClient({
    // Expo replaces these names when it bundles the app. `waxwing-relay keys export-public` prints the values.
    bouncerPublicKey: process.env.EXPO_PUBLIC_BOUNCER_KEY ?? '',
    keyList: {
      signingPublicKey: process.env.EXPO_PUBLIC_SIGNING_KEY ?? '',
      recoveryPublicKey: process.env.EXPO_PUBLIC_RECOVERY_KEY,
      store,
    },
    pushToken: readPushToken,
    accounts,
    seen,
    forgotten,
  });
  return { client, accounts, storage };
}
