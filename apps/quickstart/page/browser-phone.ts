import {
  createIndexedDbStorage,
  createPushClient,
  createTextStores,
  type PushClient,
  type Registrar,
  type SentRegistration,
  subscribeToPushes,
  type TextStorage,
} from '@waxwing/client';
import type { PhoneFacts } from './page-api.js';
import { storageName, storagePrefix } from './shared-names.js';
import { startWorker } from './start-worker.js';

/** A simulated phone in this browser. It works until the quickstart that printed its link ends. */
export interface BrowserPhone {
  readonly client: PushClient;
  readonly registrar: Registrar;
  /** A made-up FCM registration token. */
  readonly token: string;
  /** Resolves to the token in use: the FCM token, or the subscription's endpoint at the browser's push service. */
  tokenInUse(): Promise<string>;
  /** Switches permanently to the browser's push service. @throws the browser's error if it has no push service. */
  usePushService(): Promise<void>;
  /** Resolves to the latest registration that the phone sent; `undefined` before the first registration. */
  registration(): Promise<SentRegistration | undefined>;
  /** Resolves to the latest sealed push token that the phone sent, in base64; `undefined` before the first registration. */
  sealedRegistration(): Promise<string | undefined>;
}

const sealedField = 'encrypted_push_registration';
const pushServiceName = 'push-service';

export async function createBrowserPhone(facts: PhoneFacts): Promise<BrowserPhone> {
  // Each start of the quickstart has its own phone: the storage name contains the token from the page's URL.
  const storage = createIndexedDbStorage(storageName());
  await forgetEarlierPhones();
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
    async pushToken() {
      const isOn = (await storage.getItem(pushServiceName)) === 'on';
      const webPush = isOn ? await subscribe(facts.vapid_public_key) : undefined;
      return webPush ?? { tokenKind: 'fcm', token };
    },
    accounts,
    seen,
    fetch: async (url, init) => {
      const form = new URLSearchParams(typeof init?.body === 'string' ? init.body : '');
      const sealed = form.get(sealedField);
      if (sealed !== null) await storage.setItem(sealedField, sealed);
      // The chat server has another origin, so the page's own server forwards the phone's requests to it.
      return fetch(url.replace(facts.realm_url, 'server'), init);
    },
  });
  const { realm_url: realmUrl, user_id: userId, email, api_key: apiKey } = facts;
  return {
    client,
    registrar: client.registrar({ realmUrl, userId, email, apiKey }),
    token,
    async tokenInUse() {
      const [account] = await accounts.list();
      const sent = (account?.device?.sent ?? account?.registration)?.pushToken;
      return sent?.tokenKind === 'webpush'
        ? (JSON.parse(sent.token) as { endpoint: string }).endpoint
        : token;
    },
    async usePushService() {
      if ((await subscribe(facts.vapid_public_key)) === undefined)
        throw new Error('The browser does not allow notifications from this page.');
      await storage.setItem(pushServiceName, 'on');
    },
    async registration() {
      const [account] = await accounts.list();
      return account?.device?.sent ?? account?.registration;
    },
    sealedRegistration: async () => (await storage.getItem(sealedField)) ?? undefined,
  };
}

async function subscribe(vapidPublicKey: string) {
  return subscribeToPushes(await startWorker(), vapidPublicKey);
}

/** Deletes the data of phones from earlier starts. Each start has a new link, so no page uses that data anymore. */
async function forgetEarlierPhones(): Promise<void> {
  for (const { name = '' } of (await indexedDB.databases?.()) ?? []) {
    if (name.startsWith(storagePrefix) && name !== storageName()) indexedDB.deleteDatabase(name);
  }
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
