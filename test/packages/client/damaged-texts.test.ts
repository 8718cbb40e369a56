import { createTextStores } from '@waxwing/client';
import { createOpener } from '@waxwing/client/open';
import { describe, expect, it, vi } from 'vitest';
import fc from '../../support/fast-check.js';
import { createFollowingPhone } from './following-phone.js';
import { createPhone } from './phone.js';
import { TextsInMemory } from './texts-in-memory.js';

/** Damaged forms of a text: truncated anywhere, with an extra character, or replaced by another program's text. */
const damages = fc.oneof(
  fc.nat(1000).map((end) => (text: string) => text.slice(0, end % text.length)),
  fc.nat(1000).map((start) => (text: string) => text.slice(1 + (start % text.length))),
  fc.tuple(fc.nat(1000), fc.constantFrom('"', '{', '\0', ',,')).map(([at, garbage]) => (text: string) => {
    const index = at % text.length;
    return text.slice(0, index) + garbage + text.slice(index);
  }),
  fc
    .constantFrom('', ' ', '\n', '{"half', '{}', '[]', 'null', '1', '"text"', '{"sequence":1}')
    .map((text) => () => text),
  fc.json().map((text) => () => text),
);

async function phoneOn(storage: TextsInMemory) {
  const { accounts, seen, forgotten, keyList: store } = createTextStores(storage);
  const { server, registrar, client, publish } = await createFollowingPhone({
    store,
    options: { accounts, seen, forgotten },
  });
  publish();
  return { server, registrar, client, accounts };
}

describe('a damaged text', () => {
  it.each(['waxwing.accounts', 'waxwing.key-list', 'waxwing.forgotten', 'waxwing.seen.'])(
    'stops neither sync nor open: %s',
    async (name) => {
      await fc.assert(
        fc.asyncProperty(damages, async (damage) => {
          const storage = new TextsInMemory();
          const { server, registrar, client, accounts } = await phoneOn(storage);
          await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'key-list' });
          const [account] = await accounts.list();
          const fullName = name.endsWith('.') ? `${name}${account?.pushAccountId}` : name;
          storage.texts.set(fullName, damage(storage.texts.get(fullName) ?? 'v1 - abc:defg'));
          const push = server.pushTo({
            type: 'test',
            realm_url: server.url,
            user_id: 10,
            time: 1_773_200_000,
          });
          await expect(client.open(push)).resolves.toHaveProperty('kind');
          const status = await registrar.sync();
          expect(status).toMatchObject({ code: 'active', keySource: 'key-list' });
          const ids = (await accounts.list()).map(({ pushAccountId }) => pushAccountId);
          expect(ids).toContain(status.pushAccountId);
          const again = server.pushTo({
            type: 'test',
            realm_url: server.url,
            user_id: 10,
            time: 1_773_200_001,
          });
          await expect(client.open(again)).resolves.toMatchObject({ kind: 'notification' });
        }),
        { numRuns: 60 },
      );
    },
  );

  it.each([
    'waxwing.accounts',
    'waxwing.key-list',
    'waxwing.forgotten',
    'waxwing.signed-out',
    'waxwing.seen.',
  ])('is named in exactly one warning: %s', async (name) => {
    const storage = new TextsInMemory();
    const { server, client, registrar } = await phoneOn(storage);
    const { pushAccountId } = await registrar.sync();
    const fullName = name.endsWith('.') ? `${name}${pushAccountId}` : name;
    storage.texts.set(fullName, '{"half');
    const test = { type: 'test', realm_url: server.url, user_id: 10, time: 1_773_200_000 };
    await client.open(server.pushTo(test));
    const { warning } = await registrar.sync();
    expect(warning).toContain(`The stored text "${fullName}" is damaged`);
    expect(await registrar.sync()).not.toHaveProperty('warning');
    // The damaged text has been replaced, so the next start of the app finds no damage.
    const restarted = createTextStores({
      getItem: storage.getItem.bind(storage),
      setItem: storage.setItem.bind(storage),
      removeItem: storage.removeItem.bind(storage),
    });
    await Promise.all([
      restarted.accounts.list(),
      restarted.accounts.lastSignOut?.({ realmUrl: server.url, userId: 10 }),
      restarted.forgotten.list(),
      restarted.keyList.get(),
    ]);
    await restarted.seen.copy(pushAccountId ?? (0n as never), pushAccountId ?? (0n as never));
    expect(restarted.accounts.takeWarning?.()).toBeUndefined();
  });

  it('is named on the console by a service worker, which has no status', async () => {
    const storage = new TextsInMemory();
    const { server, registrar } = await phoneOn(storage);
    const { pushAccountId } = await registrar.sync();
    storage.texts.set(`waxwing.seen.${pushAccountId}`, 'v1 zzzzzzzzzz');
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const open = createOpener(storage);
    for (const time of [1_773_200_000, 1_773_200_001]) {
      const test = { type: 'test', realm_url: server.url, user_id: 10, time };
      await expect(open(server.pushTo(test))).resolves.toMatchObject({ kind: 'notification' });
    }
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining(`"waxwing.seen.${pushAccountId}" is damaged`)],
    ]);
    warn.mockRestore();
  });

  it('damages only one account, and leaves the others unchanged', async () => {
    const storage = new TextsInMemory();
    const { server, client, registrar, accounts } = await phoneOn(storage);
    const { url: realmUrl, apiKey } = server;
    const other = client.registrar({ realmUrl, userId: 11, email: 'ophelia@example.com', apiKey });
    await registrar.sync();
    const { pushAccountId } = await other.sync();
    const [first = '', second = ''] = storage.texts.get('waxwing.accounts')?.split('\n') ?? [];
    storage.texts.set('waxwing.accounts', `${first.slice(0, 60)}\n${second}`);
    expect(await accounts.list()).toMatchObject([{ pushAccountId }]);
    await registrar.sync();
    expect(await accounts.list()).toHaveLength(2);
    expect(await other.sync()).toMatchObject({ code: 'active', pushAccountId });
  });
});

describe('a storage', () => {
  it.each([
    ['undefined', undefined],
    ['an empty string', ''],
    ['null', null],
  ])('may return %s for a missing text', async (_, nothing) => {
    const storage = new TextsInMemory();
    const getItem = (name: string) => storage.texts.get(name) ?? (nothing as undefined);
    const { keyList, ...stores } = createTextStores({
      getItem,
      setItem: storage.setItem.bind(storage),
      removeItem: () => {},
    });
    const { registrar, client } = await createPhone(stores);
    await expect(client.open({ push_account_id: '1', encrypted_data: 'AAAA' })).resolves.toMatchObject({
      reason: 'unknown-account',
    });
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(await keyList.get()).toBeUndefined();
    expect(await stores.forgotten.list()).toEqual([]);
  });

  it.each([
    ['that drops all texts', (texts: Map<string, string>) => texts.clear()],
    [
      'that truncates texts to 100 characters',
      (texts: Map<string, string>) => {
        for (const [name, text] of texts) texts.set(name, text.slice(0, 100));
      },
    ],
  ])('%s makes sync register nothing and report the problem', async (_name, forget) => {
    const storage = new TextsInMemory();
    const setItem = (name: string, text: string) => {
      storage.setItem(name, text);
      forget(storage.texts);
    };
    const { keyList: _keyList, ...stores } = createTextStores({
      getItem: storage.getItem.bind(storage),
      removeItem: storage.removeItem.bind(storage),
      setItem,
    });
    const { server, registrar } = await createPhone(stores);
    await expect(registrar.sync()).resolves.toMatchObject({
      code: 'no-storage',
      warning: expect.stringContaining("Check that the app's storage persists data."),
    });
    expect(server.registrations).toEqual([]);
  });

  const storedAfter: readonly [string, (text: string, before: string | undefined) => string][] = [
    ['keeps only the first text of a name', (text, before) => before ?? text],
    ...[100, 300, 350, 400, 450, 500].map(
      (length) =>
        [`truncates texts to ${length} characters`, (text: string) => text.slice(0, length)] as [
          string,
          (text: string) => string,
        ],
    ),
  ];
  const everyLevel = [431, 500].flatMap((level) => storedAfter.map((each) => [level, ...each] as const));
  it.each(everyLevel)(
    'is never reported as working if it loses the registration: level %s, %s',
    async (level, _, keep) => {
      const storage = new TextsInMemory();
      const { keyList: _keyList, ...stores } = createTextStores({
        getItem: storage.getItem.bind(storage),
        removeItem: storage.removeItem.bind(storage),
        setItem: (name, text) => storage.setItem(name, keep(text, storage.texts.get(name))),
      });
      const { server, registrar } = await createPhone(stores);
      server.featureLevel = level;
      const { code } = await registrar.sync();
      // Enough was stored if the next start of the app finds the account.
      const known = await createTextStores(storage).accounts.list();
      const isKept = known.some(({ registration, device }) => (registration ?? device?.sent) !== undefined);
      expect(code).toBe(isKept ? 'active' : 'no-storage');
    },
  );
});
