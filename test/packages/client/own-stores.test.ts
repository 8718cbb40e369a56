import {
  createMemoryForgottenAccountStore,
  createMemoryKeyListStore,
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  type KeyListState,
  type PushAccount,
} from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import { createFollowingPhone } from './following-phone.js';
import { createPhone } from './phone.js';

/** Returns a store with one method that returns a value of a wrong type. */
function answering<Store extends object>(store: Store, name: keyof Store, answer: unknown): Store {
  return { ...store, [name]: async () => answer };
}

const foreignPush = { push_account_id: '1', encrypted_data: 'AAAA' };

describe("an app's own stores", () => {
  it('may return null for a missing entry', async () => {
    const memory = createMemoryPushAccountStore();
    const orNull = <T>(value: T | undefined) => (value ?? null) as T | undefined;
    const rows = async () => {
      const all = await memory.list();
      return all.length === 0 ? (null as unknown as readonly PushAccount[]) : all;
    };
    const times = new Map<string, number>();
    const store = createMemoryKeyListStore();
    const forgotten = createMemoryForgottenAccountStore();
    const { registrar, client, publish } = await createFollowingPhone({
      store: { ...store, get: async () => orNull(await store.get()) },
      options: {
        accounts: {
          ...memory,
          get: async (id) => orNull(await memory.get(id)),
          list: rows,
          noteSignOut: async ({ userId }, at) => void times.set(String(userId), at),
          lastSignOut: async ({ userId }) => orNull(times.get(String(userId))),
          takeWarning: () => orNull<string>(undefined),
        },
        forgotten: answering(forgotten, 'list', null),
      },
    });
    publish();
    expect(await client.open(foreignPush)).toMatchObject({ reason: 'unknown-account' });
    const status = await registrar.sync();
    expect(status).toMatchObject({ code: 'active', keySource: 'key-list' });
    expect(status).not.toHaveProperty('warning');
    await registrar.forget();
    expect(await registrar.sync()).toMatchObject({ code: 'forgotten' });
  });

  const other: readonly unknown[] = [5, 'secret', { secret: 1 }, true, [null], [5]];
  it.each(other)('are named in an error if they list anything but accounts: %j', async (answer) => {
    const lists = [
      ['accounts', { accounts: answering(createMemoryPushAccountStore(), 'list', answer) }],
      ['forgotten', { forgotten: answering(createMemoryForgottenAccountStore(), 'list', answer) }],
    ] as const;
    for (const [name, options] of lists) {
      const { server, registrar } = await createPhone(options);
      const refused = registrar.sync();
      await expect(refused).rejects.toThrow(RangeError);
      await expect(refused).rejects.toThrow(`${name}.list must return`);
      await expect(refused).rejects.not.toThrow('secret');
      expect(server.registrations).toEqual([]);
    }
  });

  it.each([undefined, null, 0, 1, 'true', {}])(
    'are named in an error if addIfNew does not return a boolean: %j',
    async (answer) => {
      const seen = answering(createMemorySeenNotifications(), 'addIfNew', answer);
      const { server, client, registrar } = await createPhone({ seen });
      await registrar.sync();
      const test = { type: 'test', realm_url: server.url, user_id: 10, time: 1_773_200_000 };
      await expect(client.open(server.pushTo(test))).rejects.toThrow(
        'seen.addIfNew must return true or false, but returned',
      );
    },
  );

  it.each([undefined, null, 7])('are named in an error if addIfAbsent returns %j', async (answer) => {
    const accounts = { ...createMemoryPushAccountStore(), addIfAbsent: async () => answer as never };
    const { registrar } = await createPhone({ accounts });
    await expect(registrar.sync()).rejects.toThrow('accounts.addIfAbsent must return an account');
  });

  it.each([5, '{}', {}, [], { sequence: 1 }])(
    'lose only the key list if they return %j for it',
    async (answer) => {
      const store = createMemoryKeyListStore();
      const { registrar, publish } = await createFollowingPhone({
        store: { ...store, get: async () => (await store.get()) ?? (answer as unknown as KeyListState) },
      });
      publish();
      await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'key-list' });
    },
  );
});
