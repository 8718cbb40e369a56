import { createTextStores, type PushClientOptions, type SealedRevocation } from '@waxwing/client';
import type { PushAccountId } from '@waxwing/protocol/phone';
import { expect, it } from 'vitest';
import { modelTokenId } from './model-client-devices.js';
import { createPhone } from './phone.js';
import { TextsInMemory } from './texts-in-memory.js';

const relayUrl = 'https://push.example.com/';
const token = 'fcm-token-1:APA91bExample_-';
const directPath = '/api/v1/remotes/push/e2ee/revoke';
const serverPath = '/api/v1/mobile_push/revoke';
const offline = () => Promise.reject(new TypeError('fetch failed'));
const notFoundPage = () => new Response('<!doctype html><h1>Not Found</h1>', { status: 404 });

/** Creates a phone that is registered with a server of this feature level. */
async function registeredPhone(level: number, options: Partial<PushClientOptions> = {}) {
  const storage = new TextsInMemory();
  const { keyList: _keyList, ...stores } = createTextStores(storage);
  const phone = await createPhone({ ...stores, ...options });
  phone.server.featureLevel = level;
  const { pushAccountId } = await phone.registrar.sync();
  return {
    ...phone,
    storage,
    id: String(pushAccountId),
    isDone: () => !storage.texts.has('waxwing.forgotten'),
  };
}

it.each([
  [431, (id: string) => ({ push_account_id: id })],
  [500, () => ({ token_id: modelTokenId(token) })],
])(
  'forget revokes the registration of its generation at the relay, through the server: level %d',
  async (level, named) => {
    const { server, registrar, id, isDone } = await registeredPhone(level);
    server.now += 5000;
    await registrar.forget();
    const { realmUuid: realm_uuid, now } = server;
    const timestamp = Math.floor(now / 1000);
    const fields = { revoked_token: token, realm_uuid, timestamp, nonce: expect.any(String), ...named(id) };
    expect(server.revocations).toEqual([{ isDirect: false, fields }]);
    expect(server.requestsTo('mobile_push/revoke')[0]?.authorization).toMatch(/^Basic /);
    expect(isDone()).toBe(true);
  },
);

it('forget also sends the revocation directly to the relay, without credentials, if relayUrl is set', async () => {
  const { server, registrar, isDone } = await registeredPhone(500, { relayUrl });
  await registrar.forget();
  expect(server.revocations.map(({ isDirect }) => isDirect).sort()).toEqual([false, true]);
  const direct = server.requests.filter(({ path }) => path === directPath);
  expect(direct.map(({ authorization }) => authorization)).toEqual([undefined]);
  expect(isDone()).toBe(true);
});

it('a revocation does not end a sign-in in the same second as the sign-out', async () => {
  const { server, client, registrar } = await registeredPhone(500);
  await registrar.forget();
  const { url: realmUrl, userId, email, apiKey } = server;
  await client.registrar({ realmUrl, userId, email, apiKey }).sync();
  const [revocation] = server.revocations;
  const registration = server.clientDevices.opened.at(-1)?.registration;
  expect(registration?.timestamp).toBe(Number(revocation?.fields.timestamp) + 1);
});

it('a server that ignores the sign-out cannot stop the phone from ending its registration', async () => {
  const { server, client, registrar, isDone } = await registeredPhone(500, { relayUrl });
  for (const path of [serverPath, '/api/v1/remove_client_device']) server.overrides.set(path, offline);
  await registrar.forget();
  expect(server.clientDevices.rows.size).toBe(1);
  expect(server.revocations).toMatchObject([{ isDirect: true }]);
  expect(isDone()).toBe(false);
  // The sign-out is also complete for a server that no longer knows the API key.
  server.overrides.clear();
  server.overrides.set(serverPath, () => server.error('INVALID_API_KEY', 401));
  const { url: realmUrl, apiKey } = server;
  await client.registrar({ realmUrl, userId: 11, email: 'ophelia@example.com', apiKey }).sync();
  await expect.poll(isDone).toBe(true);
});

it.each([serverPath, directPath])(
  'a revocation to an unreachable host is retried in the next sync: %s',
  async (path) => {
    const { server, client, registrar, storage, isDone } = await registeredPhone(431, { relayUrl });
    server.overrides.set(path, offline);
    await registrar.forget();
    expect(isDone()).toBe(false);
    expect(storage.texts.get('waxwing.forgotten')).not.toContain(token);
    server.overrides.clear();
    const sent = server.revocations.length;
    const { url: realmUrl, apiKey } = server;
    await client.registrar({ realmUrl, userId: 11, email: 'ophelia@example.com', apiKey }).sync();
    await expect.poll(isDone).toBe(true);
    const isDirect = path === directPath;
    expect(server.revocations.slice(sent)).toEqual(
      expect.arrayContaining([expect.objectContaining({ isDirect })]),
    );
  },
);

it('a refused revocation is not retried, whether by a stock server or by a relay that retired the key', async () => {
  const { server, registrar, isDone } = await registeredPhone(500, { relayUrl });
  server.overrides.set(serverPath, () => server.error('NOT_FOUND', 404));
  server.bouncerKeys.clear();
  await registrar.forget();
  expect(server.revocations).toEqual([]);
  expect(isDone()).toBe(true);
});

it('a stock server that responds with an HTML 404 gets only one request', async () => {
  const { server, registrar, storage, isDone } = await registeredPhone(500);
  server.overrides.set(serverPath, notFoundPage);
  await registrar.forget();
  // The stored sign-out is deleted, because it contains the API key.
  expect([isDone(), storage.texts.get('waxwing.forgotten')]).toEqual([true, undefined]);
});

it('a sign-out stays stored while the response to the removal is an HTML page', async () => {
  const { server, registrar, isDone } = await registeredPhone(500);
  for (const path of [serverPath, '/api/v1/remove_client_device']) server.overrides.set(path, notFoundPage);
  await registrar.forget();
  expect(isDone()).toBe(false);
});

it('an account that moves to the newer generation ends both of its registrations', async () => {
  const { server, registrar, id } = await registeredPhone(431);
  server.featureLevel = 500;
  server.relayIsUp = false;
  await registrar.sync();
  await registrar.forget();
  expect(server.revocations.map(({ fields }) => fields.push_account_id ?? fields.token_id).sort()).toEqual(
    [id, modelTokenId(token)].sort(),
  );
});

it('a token that two accounts of an organization share on a phone is revoked when both have signed out', async () => {
  const { server, client, registrar } = await registeredPhone(500);
  const { url: realmUrl, apiKey } = server;
  const other = client.registrar({ realmUrl, userId: 11, email: 'ophelia@example.com', apiKey });
  await other.sync();
  await registrar.forget();
  expect(server.revocations).toEqual([]);
  await other.forget();
  expect(server.revocations).toMatchObject([{ fields: { token_id: modelTokenId(token) } }]);
});

it('a token that another account uses at the former URL of the organization is not revoked', async () => {
  const { server, client, registrar } = await registeredPhone(500);
  const signIn = { realmUrl: 'https://former.example.com', userId: 11, email: 'ophelia@example.com' };
  const { realmUrl } = server;
  server.realmUrl = signIn.realmUrl;
  const other = client.registrar({ ...signIn, apiKey: server.apiKey });
  await expect(other.sync()).resolves.toMatchObject({ code: 'active' });
  server.realmUrl = realmUrl;
  await registrar.forget();
  expect(server.revocations).toEqual([]);
});

it('a token whose device another account has adopted after its row was lost is not revoked', async () => {
  const { server, client, accounts, registrar } = await registeredPhone(500);
  const signIn = { realmUrl: server.url, userId: 11, email: 'ophelia@example.com', apiKey: server.apiKey };
  const other = client.registrar(signIn);
  const { pushAccountId } = await other.sync();
  await accounts.remove(pushAccountId as PushAccountId);
  await expect(other.sync()).resolves.toMatchObject({ code: 'active' });
  expect((await accounts.list()).map(({ device }) => device?.sent !== undefined)).toContain(false);
  await registrar.forget();
  expect(server.revocations).toEqual([]);
});

it('a revocation is dated no earlier than the registration, even on a phone whose clock is behind', async () => {
  const { server, registrar, knobs } = await registeredPhone(431);
  knobs.clockErrorMilliseconds = -20 * 3_600_000;
  await registrar.forget();
  const { registration } = server.lastRegistration;
  expect(server.revocations).toMatchObject([{ fields: { timestamp: registration.timestamp } }]);
});

it('no revocation is sent for an account without a registration or an organization', async () => {
  const { server, registrar } = await createPhone();
  server.realmUuid = undefined;
  await registrar.sync();
  await registrar.forget();
  expect(server.requestsTo('mobile_push/revoke')).toEqual([]);
});

it('a stored sign-out keeps its revocations, and drops only damaged revocations', async () => {
  const storage = new TextsInMemory();
  const stored = () => createTextStores(storage).forgotten;
  const revocations: SealedRevocation[] = [{ bouncerPublicKey: 'k', encryptedPushRevocation: 's' }];
  const account = {
    pushAccountId: 5n as never,
    realmUrl: 'https://a',
    email: 'e',
    apiKey: 'k',
    forgottenAt: 1,
  };
  await stored().put({ ...account, revocations });
  expect(await stored().list()).toEqual([{ ...account, revocations }]);
  const text = storage.texts.get('waxwing.forgotten') ?? '';
  storage.setItem(
    'waxwing.forgotten',
    text.replace('"revocations":[', '"revocations":[1,{"bouncerPublicKey":2},'),
  );
  expect(await stored().list()).toEqual([{ ...account, revocations }]);
  storage.setItem('waxwing.forgotten', text.replace(/"revocations":\[[^\]]*\]/, '"revocations":{}'));
  expect(await stored().list()).toEqual([account]);
});

it.each(['push.example.com', 'http://push.example.com', 'https://push.example.com?x'])(
  '%s is rejected as the relay’s URL',
  async (wrong) => {
    await expect(createPhone({ relayUrl: wrong })).rejects.toThrow(/^relayUrl must /);
  },
);
