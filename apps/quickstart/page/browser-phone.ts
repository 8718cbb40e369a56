import {
  createPushClient,
  createTextStores,
  type PushClient,
  type Registrar,
  type SentRegistration,
  type TextStorage,
} from '@waxwing/client';
import type { PhoneFacts } from './page-api.js';

/** A phone that lives in this browser tab. Its data ends with the tab's session storage. */
export interface BrowserPhone {
  readonly client: PushClient;
  readonly registrar: Registrar;
  /** A made-up FCM registration token. */
  readonly token: string;
  /** The latest registration that the phone sent; `undefined` before the first one. */
  registration(): Promise<SentRegistration | undefined>;
  /** Base64 of the latest sealed push token that the phone sent; `undefined` before the first one. */
  sealedRegistration(): Promise<string | undefined>;
}

const sealedField = 'encrypted_push_registration';

export async function createBrowserPhone(facts: PhoneFacts): Promise<BrowserPhone> {
  // Each start of the quickstart has its own token in the address, and so its own phone.
  const storage = storageBelow(location.pathname);
  const { accounts, seen, keyList: store } = createTextStores(storage);
  const token = await keptToken(storage);
  const { bouncer_public_key, signing_public_key, recovery_public_key } = facts.keys;
  const client = await createPushClient({
    bouncerPublicKey: bouncer_public_key,
    keyList: {
      signingPublicKey: signing_public_key,
      ...(recovery_public_key === null ? {} : { recoveryPublicKey: recovery_public_key }),
      store,
    },
    pushToken: () => ({ tokenKind: 'fcm', token }),
    accounts,
    seen,
    fetch: async (url, init) => {
      const form = new URLSearchParams(typeof init?.body === 'string' ? init.body : '');
      const sealed = form.get(sealedField);
      if (sealed !== null) await storage.setItem(sealedField, sealed);
      // The server has another origin: the page's own server forwards the phone's requests to it.
      return fetch(url.replace(facts.realm_url, 'server'), init);
    },
  });
  const { realm_url: realmUrl, user_id: userId, email, api_key: apiKey } = facts;
  return {
    client,
    registrar: client.registrar({ realmUrl, userId, email, apiKey }),
    token,
    async registration() {
      const [account] = await accounts.list();
      return account?.device?.sent ?? account?.registration;
    },
    sealedRegistration: async () => (await storage.getItem(sealedField)) ?? undefined,
  };
}

function storageBelow(prefix: string): TextStorage {
  return {
    getItem: (name) => sessionStorage.getItem(prefix + name),
    setItem: (name, text) => sessionStorage.setItem(prefix + name, text),
    removeItem: (name) => sessionStorage.removeItem(prefix + name),
  };
}

async function keptToken(storage: TextStorage): Promise<string> {
  const kept = await storage.getItem('token');
  if (typeof kept === 'string') return kept;
  const made = `${randomText(11)}:APA91b${randomText(100)}`;
  await storage.setItem('token', made);
  return made;
}

function randomText(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return btoa(String.fromCharCode(...random)).replace(/[+/=]/g, (character) =>
    character === '+' ? '-' : '_',
  );
}
