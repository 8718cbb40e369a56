import {
  buildRegistration,
  createMemoryKeyListStore,
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  createTextStores,
  openNotification,
  type Registrar,
  sealRegistration,
} from '@waxwing/client';
import { decodeBase64, encodeBase64, parsePushAccountId, parsePushRegistration } from '@waxwing/protocol';
import { loadWasmSodium } from '@waxwing/sodium';

/** Functions of the page that the test calls. The test runs in Node, so all arguments and results are JSON. */
const clientPage = {
  /** Decrypts a sealed registration as a relay does. */
  async openRegistration(sealed: string, publicKey: string, privateKey: string) {
    const sodium = await loadWasmSodium();
    const keyPair = { publicKey: bytesOf(publicKey), privateKey: bytesOf(privateKey) };
    const plaintext = sodium.openSealed(bytesOf(sealed), keyPair);
    return plaintext && parsePushRegistration(plaintext);
  },

  async sealRegistration(token: string, timestamp: number, bouncerPublicKey: string) {
    const registration = buildRegistration({ tokenKind: 'fcm', token }, { timestamp });
    return sealRegistration(await loadWasmSodium(), registration, bouncerPublicKey);
  },

  /** Decrypts a push as a phone with a single account does. */
  async openPush(received: string, privateKey: string, publicKey: string, pushAccountId: string) {
    const accounts = createMemoryPushAccountStore();
    const id = parsePushAccountId(pushAccountId);
    if (id === undefined) throw new RangeError('pushAccountId must be a 64-bit integer.');
    const keyPair = { publicKey: bytesOf(publicKey), privateKey: bytesOf(privateKey) };
    await accounts.put({ pushAccountId: id, realmUrl: 'https://zulip.example.com', userId: 10, keyPair });
    const seen = createMemorySeenNotifications();
    const opened = await openNotification({ sodium: await loadWasmSodium(), accounts, seen }, received);
    return opened.kind === 'notification' ? opened.notification : opened.reason;
  },

  /** Registers twice with the server on this page's origin. Keeps the client for `open`. */
  async register(options: {
    bouncerPublicKey: string;
    signingPublicKey: string;
    email: string;
    apiKey: string;
    clockErrorMilliseconds: number;
  }) {
    const client = await createPushClient({
      bouncerPublicKey: options.bouncerPublicKey,
      keyList: { signingPublicKey: options.signingPublicKey, store: createMemoryKeyListStore() },
      pushToken: () => ({ tokenKind: 'fcm', token: 'token-of-a-page' }),
      accounts: createMemoryPushAccountStore(),
      seen: createMemorySeenNotifications(),
      clock: () => Date.now() + options.clockErrorMilliseconds,
    });
    const { email, apiKey } = options;
    const registrar = client.registrar({ realmUrl: location.origin, userId: 10, email, apiKey });
    this.open = async (received) => {
      const opened = await client.open(received);
      return opened.kind === 'notification' ? opened.notification : opened.reason;
    };
    const { pushAccountId: _, ...first } = await registrar.sync();
    const { code } = await registrar.sync();
    return { first, second: code };
  },

  /**
   * Registers with the server on this page's origin. The client's stores are in `localStorage`, which all tabs share.
   * Each access is delayed, so that the tabs' accesses interleave.
   */
  async syncInStorage(options: { bouncerPublicKey: string; email: string; apiKey: string }) {
    const soon = () => new Promise((resolve) => setTimeout(resolve, 5));
    const { keyList: _keyList, ...stores } = createTextStores({
      getItem: (name) => soon().then(() => localStorage.getItem(name)),
      setItem: (name, text) => soon().then(() => localStorage.setItem(name, text)),
      removeItem: (name) => soon().then(() => localStorage.removeItem(name)),
    });
    const client = await createPushClient({
      ...stores,
      bouncerPublicKey: options.bouncerPublicKey,
      pushToken: () => ({ tokenKind: 'fcm', token: 'token-of-a-page' }),
    });
    const { email, apiKey } = options;
    const registrar = client.registrar({ realmUrl: location.origin, userId: 10, email, apiKey });
    this.registrar = registrar;
    return String((await registrar.sync()).pushAccountId);
  },

  /** Syncs the account that `syncInStorage` registered. */
  async syncAgain() {
    return (await this.registrar?.sync())?.code;
  },

  async forget() {
    await this.registrar?.forget();
  },

  registrar: undefined as Registrar | undefined,

  open: async (_received: Record<string, unknown>): Promise<unknown> => {
    throw new Error('register comes first.');
  },
};

function bytesOf(base64: string): Uint8Array {
  const bytes = decodeBase64(base64);
  if (bytes === undefined || encodeBase64(bytes) !== base64) throw new RangeError(`not base64: ${base64}`);
  return bytes;
}

export type ClientPage = typeof clientPage;

Object.assign(globalThis, { clientPage });
