import * as thisTab from '@waxwing/client';
import {
  createMemoryKeyListStore,
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createTextStores,
  type KeyListState,
  type PushAccountStore,
  type TextStorage,
} from '@waxwing/client';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeChatServer } from './fake-chat-server.js';
import { createFollowingPhone, second, third } from './following-phone.js';

let otherTab: typeof thisTab;

/** Loads the client's code a second time. The two copies share no memory, like two tabs without Web Locks. */
beforeAll(async () => {
  vi.resetModules();
  otherTab = await import('@waxwing/client');
  expect(otherTab.createPushClient).not.toBe(thisTab.createPushClient);
});

/** An asynchronous storage, such as AsyncStorage, with a short random delay. */
function slowStorage(texts: Map<string, string>): TextStorage {
  const soon = () => new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 2));
  return {
    getItem: (name) => soon().then(() => texts.get(name) ?? null),
    setItem: (name, text) => soon().then(() => void texts.set(name, text)),
    removeItem: (name) => soon().then(() => void texts.delete(name)),
  };
}

/** Creates an account table like one in an app's own database: slow, and without `addIfAbsent`. */
function slowTable(table: PushAccountStore): PushAccountStore {
  const soon = () => new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 2));
  return {
    get: (id) => soon().then(() => table.get(id)),
    put: (account) => soon().then(() => table.put(account)),
    list: () => soon().then(() => table.list()),
    remove: (id) => soon().then(() => table.remove(id)),
  };
}

async function registrarOn(
  server: FakeChatServer,
  accounts: PushAccountStore,
  { createPushClient }: Pick<typeof thisTab, 'createPushClient'> = thisTab,
) {
  const client = await createPushClient({
    bouncerPublicKey: server.addBouncerKey(1),
    pushToken: () => ({ tokenKind: 'fcm', token: 'fcm-token-1:APA91bExample_-' }),
    accounts,
    seen: createMemorySeenNotifications(),
    fetch: server.fetch,
    clock: () => server.now,
  });
  const { url: realmUrl, userId, email, apiKey } = server;
  return client.registrar({ realmUrl, userId, email, apiKey });
}

/** Ways for two clients to get the account table of a shared storage. */
const wrappings: readonly [string, (texts: Map<string, string>) => () => PushAccountStore][] = [
  [
    'one storage object',
    (texts) => {
      const storage = slowStorage(texts);
      return () => createTextStores(storage).accounts;
    },
  ],
  ['the storage is wrapped for each client', (texts) => () => createTextStores(slowStorage(texts)).accounts],
  [
    'a table of the app, wrapped for each client',
    () => {
      const table = createMemoryPushAccountStore();
      return () => slowTable(table);
    },
  ],
];

const generations = [
  ['older', 431, 'mobile_push/register'],
  ['newer', 468, 'register_client_device'],
] as const;

/** Runs `sync` in two clients at the same time. */
async function syncBoth(storeOf: () => PushAccountStore, featureLevel: number, other = thisTab) {
  const server = new FakeChatServer();
  server.featureLevel = featureLevel;
  const registrars = await Promise.all([
    registrarOn(server, storeOf()),
    registrarOn(server, storeOf(), other),
  ]);
  const statuses = await Promise.all(registrars.map((registrar) => registrar.sync()));
  return { server, registrars, statuses, rows: await storeOf().list() };
}

describe.each(generations)(
  'two clients on one store, with a server of the %s generation',
  (_, level, path) => {
    beforeEach(() => {
      vi.stubGlobal('navigator', {});
      return () => vi.unstubAllGlobals();
    });

    it.each(wrappings)('register an account only once without Web Locks: %s', async (_name, wrap) => {
      for (let round = 0; round < 5; round += 1) {
        const { server, statuses, rows } = await syncBoth(wrap(new Map()), level);
        expect(statuses.map(({ code }) => code)).toEqual(['active', 'active']);
        expect(new Set(statuses.map(({ pushAccountId }) => pushAccountId)).size).toBe(1);
        expect(rows).toHaveLength(1);
        expect(server.requestsTo(path).filter(({ method }) => method === 'POST')).toHaveLength(1);
      }
    });

    it('never report the storage as broken, in two tabs without Web Locks', async () => {
      for (let round = 0; round < 5; round += 1) {
        const texts = new Map<string, string>();
        const storeOf = () => createTextStores(slowStorage(texts)).accounts;
        const { statuses } = await syncBoth(storeOf, level, otherTab);
        expect(statuses.map(({ code }) => code)).not.toContain('no-storage');
      }
    });
  },
);

describe('two clients on one store', () => {
  const texts = new Map<string, string>();
  beforeEach(() => {
    texts.clear();
    return () => vi.unstubAllGlobals();
  });

  it('register nothing after forget on one client, even if each client wraps the storage', async () => {
    const server = new FakeChatServer();
    const storeOf = () => createTextStores(slowStorage(texts)).accounts;
    const registrars = [await registrarOn(server, storeOf()), await registrarOn(server, storeOf())] as const;
    for (const registrar of registrars) expect(await registrar.sync()).toMatchObject({ code: 'active' });
    await registrars[1].forget();
    expect(await registrars[0].sync()).toMatchObject({ code: 'forgotten' });
    expect(server.devices.size).toBe(0);
    expect(await (await registrarOn(server, storeOf())).sync()).toMatchObject({ code: 'active' });
    expect(await registrars[0].sync()).toMatchObject({ code: 'forgotten' });
  });

  it('hold a Web Lock for every change, so that tabs lose no change', async () => {
    const asked: string[] = [];
    const locks = {
      request(name: string, task: () => Promise<unknown>) {
        asked.push(name);
        return task();
      },
    };
    vi.stubGlobal('navigator', { locks });
    const server = new FakeChatServer();
    const { accounts } = createTextStores(slowStorage(texts));
    await (await registrarOn(server, accounts)).sync();
    // One lock for the whole sync, one for the new account, and one each for its registration before and after sending.
    const stores = ['waxwing.stores', 'waxwing.stores', 'waxwing.stores'];
    expect(asked).toEqual([`waxwing.account ${server.url} 10`, ...stores]);
  });

  it('keep one of two rows that two tabs added for one account, and delete the other from the server', async () => {
    const server = new FakeChatServer();
    const [table, other] = [createMemoryPushAccountStore(), createMemoryPushAccountStore()];
    for (const accounts of [table, other]) await (await registrarOn(server, accounts)).sync();
    for (const account of await other.list()) await table.put(account);
    expect(await table.list()).toHaveLength(2);
    expect(server.devices.size).toBe(2);
    const registrars = [
      await registrarOn(server, slowTable(table)),
      await registrarOn(server, table),
    ] as const;
    const kept = await registrars[1].sync();
    expect(kept).toMatchObject({ code: 'active' });
    await expect.poll(() => server.devices.size).toBe(1);
    expect(await table.list()).toMatchObject([{ pushAccountId: kept.pushAccountId }]);
    await expect(registrars[0].sync()).resolves.toEqual(kept);
    expect(server.devices.has(String(kept.pushAccountId))).toBe(true);
  });

  it('keep the newest of two key lists, each with its own store object', async () => {
    const memory = createMemoryKeyListStore();
    // The older list takes longer to store.
    const slowly = () => ({
      get: () => memory.get(),
      async put(state: KeyListState) {
        if (state.primaryPublicKey === second) await new Promise((resolve) => setTimeout(resolve, 5));
        await memory.put(state);
      },
    });
    const one = await createFollowingPhone({ store: slowly() });
    const other = await createFollowingPhone({ store: slowly() });
    one.publish();
    other.server.now += 1000;
    other.publish({ primary: third });
    // Two accounts, because syncs of the same account would wait for each other.
    const registrars = [one, other].map(({ client, server }, index) => {
      const { url: realmUrl, users, apiKey } = server;
      const [email, userId] = [...users][index] ?? ['', 0];
      return client.registrar({ realmUrl, userId, email, apiKey });
    });
    await Promise.all(registrars.map((registrar) => registrar.sync()));
    expect(await memory.get()).toMatchObject({ primaryPublicKey: third });
  });
});
