import {
  createIndexedDbStorage,
  createPushClient,
  createTextStores,
  fromPushSubscription,
} from '@waxwing/client';

const scope = '/app/';

/** Functions of a page whose app has a service worker. The test calls them, so all arguments and results are JSON. */
const pushPage = {
  messages: [] as unknown[],

  /** Outcomes of the events that the worker has handled. */
  handled: [] as string[],

  /** Starts the service worker, and registers an account in the storage that the page and the worker share. */
  async start(options: { bouncerPublicKey: string; email: string; apiKey: string; subscription: object }) {
    navigator.serviceWorker.addEventListener('message', ({ data }) => this.messages.push(data));
    navigator.serviceWorker.startMessages();
    await navigator.serviceWorker.register(`${scope}worker.js`, { scope });
    const { keyList: _keyList, ...stores } = createTextStores(createIndexedDbStorage());
    const client = await createPushClient({
      ...stores,
      bouncerPublicKey: options.bouncerPublicKey,
      pushToken: () => fromPushSubscription(options.subscription),
    });
    const { email, apiKey } = options;
    const registrar = client.registrar({ realmUrl: location.origin, userId: 10, email, apiKey });
    this.open = async (push) => (await client.open(push)).kind;
    return (await registrar.sync()).code;
  },

  open: async (_push: string): Promise<string> => {
    throw new Error('start comes first.');
  },

  /** The visible notifications. Sorted by title, because browsers list them in any order. */
  async visible() {
    const registration = await navigator.serviceWorker.getRegistration(scope);
    const shown = (await registration?.getNotifications()) ?? [];
    const texts = shown.map(({ title, body }) => ({ title, body }));
    return texts.sort((one, other) => (one.title < other.title ? -1 : 1));
  },

  async tags() {
    const registration = await navigator.serviceWorker.getRegistration(scope);
    return ((await registration?.getNotifications()) ?? []).map(({ tag }) => tag);
  },

  async clear() {
    const registration = await navigator.serviceWorker.getRegistration(scope);
    for (const each of (await registration?.getNotifications()) ?? []) each.close();
  },
};

export type PushPage = typeof pushPage;

Object.assign(globalThis, { pushPage });
new BroadcastChannel('handled').onmessage = ({ data }) => pushPage.handled.push(data);
