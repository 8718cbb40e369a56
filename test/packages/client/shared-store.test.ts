import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  createTextStores,
  type PushAccountStore,
  type TextStorage,
} from '@waxwing/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeChatServer } from './fake-chat-server.js';

/** A storage with promises, such as AsyncStorage, that answers after a random short time. */
function slowStorage(texts: Map<string, string>): TextStorage {
  const soon = () => new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 2));
  return {
    getItem: (name) => soon().then(() => texts.get(name) ?? null),
    setItem: (name, text) => soon().then(() => void texts.set(name, text)),
    removeItem: (name) => soon().then(() => void texts.delete(name)),
  };
}

/** An account table in the app's own database, without `addIfAbsent`. */
function slowTable(table: PushAccountStore): PushAccountStore {
  const soon = () => new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 2));
  return {
    get: (id) => soon().then(() => table.get(id)),
    put: (account) => soon().then(() => table.put(account)),
    list: () => soon().then(() => table.list()),
    remove: (id) => soon().then(() => table.remove(id)),
  };
}

async function registrarOn(server: FakeChatServer, accounts: PushAccountStore) {
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

describe('two clients on one store', () => {
  const texts = new Map<string, string>();
  const storage = slowStorage(texts);
  const table = createMemoryPushAccountStore();
  afterEach(async () => {
    vi.unstubAllGlobals();
    texts.clear();
    for (const { pushAccountId } of await table.list()) await table.remove(pushAccountId);
  });

  /** Runs both at the same time, ten times. */
  async function syncBoth(storeOf: () => PushAccountStore): Promise<number[]> {
    const registrations: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      texts.clear();
      const server = new FakeChatServer();
      const registrars = await Promise.all([registrarOn(server, storeOf()), registrarOn(server, storeOf())]);
      const statuses = await Promise.all(registrars.map((registrar) => registrar.sync()));
      expect(statuses.map(({ code }) => code)).toEqual(['active', 'active']);
      expect(new Set(statuses.map(({ pushAccountId }) => pushAccountId)).size).toBe(1);
      expect(await storeOf().list()).toHaveLength(1);
      expect(server.devices.size).toBe(1);
      registrations.push(server.registrations.length);
    }
    return registrations;
  }

  it('register an account once: one storage object', async () => {
    const registrations = await syncBoth(() => createTextStores(storage).accounts);
    expect(registrations).toEqual(registrations.map(() => 1));
  });

  it('register an account once: the storage is wrapped for each client', async () => {
    await syncBoth(() => createTextStores(slowStorage(texts)).accounts);
  });

  it('register nothing after forget on one of them: the storage is wrapped for each client', async () => {
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

  it('take the Web Locks of a browser for every change, so that tabs lose none', async () => {
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
    // The locks of the whole sync, the new account, and its registration before and after it is sent.
    const stores = ['waxwing.stores', 'waxwing.stores', 'waxwing.stores'];
    expect(asked).toEqual([`waxwing.account ${server.url} 10`, ...stores]);
  });

  it('that added an account twice keep one of the two, which both use, and the server deletes the other', async () => {
    const server = new FakeChatServer();
    const [one, other] = [slowTable(table), slowTable(table)];
    const registrars = await Promise.all([registrarOn(server, one), registrarOn(server, other)]);
    await Promise.all(registrars.map((registrar) => registrar.sync()));
    expect(await table.list()).toHaveLength(2);
    expect(server.devices.size).toBe(2);
    const kept = await registrars[1]?.sync();
    expect(kept).toMatchObject({ code: 'active' });
    await expect.poll(() => server.devices.size).toBe(1);
    expect(await table.list()).toMatchObject([{ pushAccountId: kept?.pushAccountId }]);
    await expect(registrars[0]?.sync()).resolves.toEqual(kept);
    expect(server.devices.has(String(kept?.pushAccountId))).toBe(true);
  });
});
