import { createTextStores } from '@waxwing/client';
import type { PushAccountId } from '@waxwing/protocol';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createPhone } from './phone.js';

const path = '/api/v1/mobile_push/register';
const day = 86_400_000;

describe('registrar.forget', () => {
  let texts: Map<string, string>;
  beforeEach(() => {
    texts = new Map();
  });

  function stores() {
    const { accounts, seen, forgotten } = createTextStores({
      getItem: (name) => texts.get(name) ?? null,
      setItem: (name, text) => void texts.set(name, text),
      removeItem: (name) => void texts.delete(name),
    });
    return { accounts, seen, forgotten };
  }

  /** A phone with a registered account. */
  async function registeredPhone() {
    const phone = await createPhone(stores());
    const { pushAccountId } = await phone.registrar.sync();
    const { server, client } = phone;
    const { url: realmUrl, apiKey, fetch } = server;
    const ophelia = { realmUrl, userId: 11, email: 'ophelia@example.com', apiKey };
    /** Returns the ids in the DELETE requests that the server received. */
    const told = () =>
      server.requests
        .filter((request) => request.method === 'DELETE' && request.path === path)
        .map(({ fields }) => fields.get('push_account_id'));
    return {
      ...phone,
      id: String(pushAccountId),
      told,
      syncOther: () => client.registrar(ophelia).sync(),
      /** Restarts the app on the same phone. */
      async restart() {
        const { client: next } = await createPhone({ ...stores(), fetch, clock: () => server.now });
        return next.registrar(ophelia);
      },
    };
  }

  const offline = () => Promise.reject(new TypeError('fetch failed'));

  it('deletes the phone from the server, as the user, and keeps only the time of the sign-out', async () => {
    const { server, registrar, id, told } = await registeredPhone();
    const pushAccountId = BigInt(id) as PushAccountId;
    await stores().seen.addIfNew({ pushAccountId, time: 1_800_000_000, name: 'AAAA' });
    await registrar.forget();
    expect(told()).toEqual([id]);
    expect(server.devices.has(id)).toBe(false);
    expect([...texts.keys()]).toEqual(['waxwing.signed-out']);
  });

  it('sends the DELETE in the next sync of any account if there was no network, even after a restart', async () => {
    const { server, registrar, id, told, restart } = await registeredPhone();
    server.overrides.set(path, offline);
    await registrar.forget();
    expect(texts.has('waxwing.accounts')).toBe(false);
    expect(server.devices.has(id)).toBe(true);
    server.overrides.clear();
    await (await restart()).sync();
    await vi.waitFor(() => expect(texts.has('waxwing.forgotten')).toBe(false));
    expect(server.devices.has(id)).toBe(false);
    expect(told()).toEqual([id, id]);
  });

  it('is retried while the server is busy, and does not make syncs fail', async () => {
    const { server, registrar, id, told, syncOther } = await registeredPhone();
    server.overrides.set(path, () => server.error('RATE_LIMIT_HIT', 429));
    await registrar.forget();
    await expect(syncOther()).resolves.toMatchObject({ code: 'retry-later' });
    server.overrides.clear();
    await expect(syncOther()).resolves.toMatchObject({ code: 'active' });
    await vi.waitFor(() => expect(texts.has('waxwing.forgotten')).toBe(false));
    expect(told()).toEqual([id, id, id]);
  });

  it.each([
    ['lacks the operation', 404, 'NOT_FOUND'],
    ['has a different operation at this path', 405, 'METHOD_NOT_ALLOWED'],
    ['no longer accepts the API key', 401, 'INVALID_API_KEY'],
  ])('sends only one request to a server that %s', async (_, status, code) => {
    const { server, registrar, id, told, syncOther } = await registeredPhone();
    server.overrides.set(path, () => server.error(code, status));
    await registrar.forget();
    server.overrides.clear();
    await syncOther();
    await vi.waitFor(() => expect(texts.has('waxwing.forgotten')).toBe(false));
    expect(told()).toEqual([id]);
  });

  it('does not delay syncs while the server does not respond, and sends one request at a time', async () => {
    const { server, registrar, id, told, restart } = await registeredPhone();
    server.overrides.set(path, offline);
    await registrar.forget();
    const other = await restart();
    let answer = (_: Response): void => {};
    const answered = new Promise<Response>((resolve) => {
      answer = resolve;
    });
    server.overrides.set(path, () => (server.requests.at(-1)?.method === 'DELETE' ? answered : offline()));
    await expect(other.sync()).resolves.toMatchObject({ code: 'unreachable' });
    await expect(other.sync()).resolves.toMatchObject({ code: 'unreachable' });
    expect(told()).toEqual([id, id]);
    answer(server.answer({}));
    await vi.waitFor(() => expect(texts.has('waxwing.forgotten')).toBe(false));
  });

  it('drops a damaged text of sign-outs, and does not make syncs fail', async () => {
    const { registrar, syncOther } = await registeredPhone();
    for (const text of ['[{"pushAccountId":', '{}', 'null', '[1,{"pushAccountId":"x"}]']) {
      texts.set('waxwing.forgotten', text);
      await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    }
    await registrar.forget();
    await expect(syncOther()).resolves.toMatchObject({ code: 'active' });
    expect(texts.has('waxwing.forgotten')).toBe(false);
  });

  it.each(['its own', "another account's"])(
    'is completed by %s next sync after an interruption, and a user who signs in again stays registered',
    async (whose) => {
      const { server, registrar, id, syncOther, told, accounts } = await registeredPhone();
      const { url: realmUrl, email, apiKey, now } = server;
      const [row] = await accounts.list();
      const pushAccountId = row?.pushAccountId as PushAccountId;
      // The state if the app is closed when only the first of the two stores has been written.
      await stores().forgotten.put({ pushAccountId, realmUrl, email, apiKey, forgottenAt: now });
      if (whose !== 'its own') {
        await syncOther();
        await vi.waitFor(() => expect(texts.has('waxwing.forgotten')).toBe(false));
        expect(await accounts.get(pushAccountId)).toBeUndefined();
      }
      const status = await registrar.sync();
      expect(status).toMatchObject({ code: 'active' });
      await vi.waitFor(() => expect(texts.has('waxwing.forgotten')).toBe(false));
      expect(told()).toEqual([id]);
      expect(await accounts.get(pushAccountId)).toBeUndefined();
      expect(server.devices.has(id)).toBe(false);
      expect(server.devices.has(String(status.pushAccountId))).toBe(true);
    },
  );

  it('stops retrying after 30 days', async () => {
    const { server, registrar, id, told, syncOther } = await registeredPhone();
    server.overrides.set(path, offline);
    await registrar.forget();
    server.overrides.clear();
    server.now += 30 * day + 1;
    await syncOther();
    expect(told()).toEqual([id]);
    expect(texts.has('waxwing.forgotten')).toBe(false);
  });

  it('sends no request for an account that the server never received', async () => {
    const { server, registrar, accounts } = await createPhone(stores());
    server.overrides.set('/api/v1/register', offline);
    await registrar.sync();
    await registrar.forget();
    expect(await accounts.list()).toEqual([]);
    expect(server.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
  });

  it('does not round the account’s id in the store', async () => {
    const { forgotten } = stores();
    const pushAccountId = 9_223_372_036_854_775_807n as PushAccountId;
    const account = { pushAccountId, realmUrl: 'https://a', email: 'e', apiKey: 'k', forgottenAt: 1 };
    await forgotten.put(account);
    expect(await stores().forgotten.list()).toEqual([account]);
  });
});
