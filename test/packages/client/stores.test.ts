import {
  createMemoryForgottenAccountStore,
  createMemoryKeyListStore,
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createTextStores,
  type KeyListState,
  type PushAccount,
  type TextStores,
} from '@waxwing/client';
import { parsePushAccountId } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';

/** Creates a synchronous storage such as `localStorage`, or an asynchronous storage such as AsyncStorage. */
function createTextStorage(isAsynchronous: boolean) {
  const texts = new Map<string, string>();
  const soon = async () => {
    if (isAsynchronous) await new Promise((resolve) => setImmediate(resolve));
  };
  if (!isAsynchronous) {
    return {
      texts,
      getItem: (name: string) => texts.get(name) ?? null,
      setItem: (name: string, text: string) => void texts.set(name, text),
      removeItem: (name: string) => void texts.delete(name),
    };
  }
  return {
    texts,
    async getItem(name: string) {
      await soon();
      return texts.get(name) ?? null;
    },
    async setItem(name: string, text: string) {
      await soon();
      texts.set(name, text);
    },
    async removeItem(name: string) {
      await soon();
      texts.delete(name);
    },
  };
}

const kinds: readonly [string, () => TextStores][] = [
  [
    'in memory',
    () => ({
      accounts: createMemoryPushAccountStore(),
      seen: createMemorySeenNotifications(),
      keyList: createMemoryKeyListStore(),
      forgotten: createMemoryForgottenAccountStore(),
    }),
  ],
  ['as text', () => createTextStores(createTextStorage(false))],
  ['as text, with promises', () => createTextStores(createTextStorage(true))],
];

function account(pushAccountId: bigint, realmUrl = 'https://chat.example.com'): PushAccount {
  const keyPair = { publicKey: new Uint8Array(32).fill(1), privateKey: new Uint8Array(32).fill(2) };
  return { pushAccountId: parsePushAccountId(pushAccountId) ?? (0n as never), realmUrl, userId: 10, keyPair };
}

const notification = { ...account(1n), time: 1_800_000_000, name: 'AAAA' };

const state: KeyListState = {
  pinnedSigningPublicKey: 'a',
  signingPublicKey: 'b',
  sequence: 1_800_000_000_000,
  issuedAt: 1_790_000_000,
  expiresAt: 1_800_000_000,
  primaryPublicKey: 'c',
  listedPublicKeys: ['c', 'd'],
  refusedPublicKeys: [],
  unlistedBuiltInKey: 'e',
};

describe.each(kinds)('The stores %s', (_, createStores) => {
  it('keep accounts by id', async () => {
    const { accounts } = createStores();
    const [first, second] = [account(2n ** 63n - 1n), account(-1n)];
    await accounts.put(first);
    await accounts.put(second);
    expect(await accounts.get(first.pushAccountId)).toEqual(first);
    expect(await accounts.list()).toEqual([first, second]);
  });

  it('replace the account with the same id', async () => {
    const { accounts } = createStores();
    await accounts.put(account(1n));
    await accounts.put(account(1n, 'https://other.example.com'));
    expect(await accounts.list()).toEqual([account(1n, 'https://other.example.com')]);
  });

  it('remove an account, and ignore a missing account', async () => {
    const { accounts } = createStores();
    await accounts.put(account(1n));
    await accounts.remove(account(1n).pushAccountId);
    await accounts.remove(account(1n).pushAccountId);
    expect(await accounts.list()).toEqual([]);
    expect(await accounts.get(account(1n).pushAccountId)).toBeUndefined();
  });

  it('lose no concurrent changes', async () => {
    const { accounts } = createStores();
    await Promise.all([1n, 2n, 3n].map((id) => accounts.put(account(id))));
    await Promise.all([accounts.remove(account(2n).pushAccountId), accounts.put(account(4n))]);
    const ids = (await accounts.list()).map(({ pushAccountId }) => pushAccountId);
    expect(ids.toSorted()).toEqual([1n, 3n, 4n]);
  });

  it('persist the key list state', async () => {
    const { keyList } = createStores();
    expect(await keyList.get()).toBeUndefined();
    await keyList.put(state);
    expect(await keyList.get()).toEqual(state);
  });
});

describe('The stores as text', () => {
  it('survive a restart', async () => {
    const storage = createTextStorage(true);
    const before = createTextStores(storage);
    await before.accounts.put(account(1n));
    await before.seen.addIfNew(notification);
    await before.keyList.put(state);
    const after = createTextStores(storage);
    expect(await after.accounts.list()).toEqual([account(1n)]);
    expect(await after.seen.addIfNew(notification)).toBe(false);
    expect(await after.keyList.get()).toEqual(state);
  });

  it('lose no change if several stores use one storage', async () => {
    const storage = createTextStorage(true);
    const [one, other] = [createTextStores(storage), createTextStores(storage)];
    await Promise.all([one.accounts.put(account(1n)), other.accounts.put(account(2n))]);
    expect(await one.accounts.list()).toEqual([account(1n), account(2n)]);
  });

  it('continue after the storage has failed once', async () => {
    const storage = createTextStorage(true);
    const { accounts } = createTextStores(storage);
    const { setItem } = storage;
    storage.setItem = () => Promise.reject(new Error('the disk is full'));
    await expect(accounts.put(account(1n))).rejects.toThrow('the disk is full');
    storage.setItem = setItem;
    await accounts.put(account(2n));
    expect(await accounts.list()).toEqual([account(2n)]);
  });
});
