import * as thisTab from '@waxwing/client';
import { loadWasmSodium } from '@waxwing/sodium';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { FakeChatServer } from './fake-chat-server.js';
import { TextsInMemory } from './texts-in-memory.js';

const day = 86_400_000;
const sodium = await loadWasmSodium();
let otherTab: typeof thisTab;

/** Loads the client's code a second time. The two copies share no memory, like two processes without Web Locks. */
beforeAll(async () => {
  vi.resetModules();
  otherTab = await import('@waxwing/client');
  expect(otherTab.createPushClient).not.toBe(thisTab.createPushClient);
});

type Step = () => Promise<void>;

/** Two tabs of one browser, which share only their storage. */
class TwoTabs {
  readonly server = new FakeChatServer();
  readonly storage = new TextsInMemory();
  readonly bouncerPublicKey = this.server.addBouncerKey(1);
  token = 'token';

  /**
   * Creates a registrar in one of the tabs. `step` runs before each storage access, and before and after each request.
   */
  async registrar({ createPushClient, createTextStores }: typeof thisTab, step: Step = async () => {}) {
    const { server, storage, bouncerPublicKey } = this;
    const { keyList: _keyList, ...stores } = createTextStores({
      getItem: (name) => step().then(() => storage.getItem(name)),
      setItem: (name, text) => step().then(() => storage.setItem(name, text)),
      removeItem: (name) => step().then(() => storage.removeItem(name)),
    });
    const client = await createPushClient({
      ...stores,
      sodium,
      bouncerPublicKey,
      clock: () => server.now,
      pushToken: () => ({ tokenKind: 'fcm', token: this.token }),
      fetch: async (url, init) => {
        await step();
        const answer = await server.fetch(url, init);
        await step();
        return answer;
      },
    });
    const { url: realmUrl, userId, email, apiKey } = server;
    return client.registrar({ realmUrl, userId, email, apiKey });
  }

  /** Returns the phone's stored data, and the number of devices on the server that would notify the phone. */
  left() {
    const { server, storage } = this;
    const accounts = storage.texts.has('waxwing.accounts');
    // A downgraded server neither uses nor removes devices of the newer generation.
    const newer = server.featureLevel < 468 ? 0 : server.clientDevices.rows.size;
    return { accounts, older: server.devices.size, newer };
  }
}

const nothing = { accounts: false, older: 0, newer: 0 };

interface Case {
  readonly name: string;
  /** The feature level at the account's earlier registration; `undefined` if there was none. */
  readonly from?: number;
  readonly to: number;
  readonly change?: (tabs: TwoTabs) => void;
}

const cases: readonly Case[] = [
  { name: 'the first one, with an older server', to: 431 },
  { name: 'the first one, with a newer server', to: 500 },
  { name: 'the first one after an upgrade', from: 431, to: 500 },
  { name: 'the first one after a downgrade', from: 500, to: 431 },
  { name: 'a renewal', from: 431, to: 431, change: waitAMonth },
  { name: 'a rotation of the key', from: 500, to: 500, change: waitAMonth },
  { name: 'another token', from: 500, to: 500, change: replaceToken },
];

function waitAMonth({ server }: TwoTabs) {
  server.now += 31 * day;
}

function replaceToken(tabs: TwoTabs) {
  tabs.token = 'another';
}

async function preparedTabs({ from, to, change }: Case): Promise<TwoTabs> {
  const tabs = new TwoTabs();
  tabs.server.featureLevel = from ?? to;
  if (from !== undefined) await (await tabs.registrar(thisTab)).sync();
  tabs.server.featureLevel = to;
  change?.(tabs);
  return tabs;
}

describe('A sign-out in one tab', () => {
  it.each(cases)(
    'leaves no registration behind, at any step of a sync in the other tab: $name',
    async (each) => {
      let outcomes = 0;
      for (let at = 1, isWhole = false; !isWhole; at += 1) {
        const tabs = await preparedTabs(each);
        let steps = Number.NEGATIVE_INFINITY;
        const other = await tabs.registrar(otherTab);
        const registrar = await tabs.registrar(thisTab, async () => {
          steps += 1;
          if (steps === at) await other.forget();
        });
        steps = 0;
        const { code } = await registrar.sync();
        isWhole = steps < at;
        if (isWhole) await other.forget();
        else if (code === 'forgotten') outcomes += 1;
        await expect.poll(() => tabs.left(), { interval: 1 }).toEqual(nothing);
        expect(await registrar.sync()).toMatchObject({ code: 'forgotten' });
        expect(tabs.left()).toEqual(nothing);
        // The user signs in again.
        expect(await (await tabs.registrar(thisTab)).sync()).toMatchObject({ code: 'active' });
        expect(await registrar.sync()).toMatchObject({ code: 'forgotten' });
        expect(tabs.left()).toMatchObject({ accounts: true, older: each.to < 468 ? 1 : 0 });
      }
      expect(outcomes).toBeGreaterThan(10);
    },
  );

  it('ends a registration whose response is lost', async () => {
    const tabs = new TwoTabs();
    const other = await tabs.registrar(otherTab);
    const registrar = await tabs.registrar(thisTab);
    tabs.server.overrides.set('/api/v1/mobile_push/register', async () => {
      tabs.server.overrides.clear();
      await other.forget();
      const { fields } = tabs.server.requestsTo('mobile_push/register')[0] ?? {};
      tabs.server.decide(fields?.get('push_account_id') ?? '', null);
      throw new TypeError('fetch failed');
    });
    expect(await registrar.sync()).toMatchObject({ code: 'forgotten' });
    await expect.poll(() => tabs.left()).toEqual(nothing);
  });

  it('is noticed by a registrar in another tab that has never synced', async () => {
    const tabs = new TwoTabs();
    const registrar = await tabs.registrar(thisTab);
    await (await tabs.registrar(otherTab)).forget();
    expect(await registrar.sync()).toMatchObject({ code: 'forgotten' });
    expect(tabs.left()).toEqual(nothing);
  });

  it('is noticed even if the storage failed when the registrar was created', async () => {
    const tabs = new TwoTabs();
    let isLocked = true;
    const registrar = await tabs.registrar(thisTab, async () => {
      if (isLocked) throw new Error('the keychain is locked');
    });
    await expect(registrar.sync()).rejects.toThrow('the keychain is locked');
    isLocked = false;
    expect(await registrar.sync()).toMatchObject({ code: 'active' });
    await (await tabs.registrar(otherTab)).forget();
    expect(await registrar.sync()).toMatchObject({ code: 'forgotten' });
  });

  it('is stored with its own time for each of the newest 100 accounts', async () => {
    const storage = new TextsInMemory();
    const { accounts } = thisTab.createTextStores(storage);
    const identity = (userId: number | bigint) => ({ realmUrl: 'https://chat.example.com/', userId });
    for (let userId = 1; userId <= 101; userId += 1) await accounts.noteSignOut?.(identity(userId), 7);
    const last = (userId: number | bigint) => accounts.lastSignOut?.(identity(userId));
    expect(await Promise.all([last(1), last(2), last(101n), last(102)])).toEqual([
      undefined,
      7,
      7,
      undefined,
    ]);
    // The phone's clock has been set back.
    await accounts.noteSignOut?.({ ...identity(2), realmUrl: 'https://CHAT.example.com' }, 3);
    expect(await last(2)).toBe(8);
    for (const text of ['[', '{}', '[1,{"account":"a"}]']) {
      storage.setItem('waxwing.signed-out', text);
      expect(await last(2)).toBeUndefined();
      expect(accounts.takeWarning?.()).toContain('"waxwing.signed-out" is damaged');
    }
  });
});
