import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askByHttp } from './ask-servers.js';
import { StockApp } from './stock-app.js';
import { newPhone, newToken } from './stock-devices-of.js';
import type { StockPhone } from './stock-phone.js';
import { StockWorld, type WorldUser } from './stock-world.js';

const day = 86_400_000;
const keyGroup = ['push_key_id', 'push_key'];
const tokenGroup = ['token_kind', 'token_id', 'bouncer_public_key', 'encrypted_push_registration'];
let world: StockWorld;
let sender: WorldUser;
let user: WorldUser;
let users = 0;

beforeAll(async () => {
  world = await StockWorld.create();
  await world.startRelay();
  await world.startServer();
  sender = await world.addUser('sender');
});
beforeEach(async () => {
  await world.takeDeliveries();
  users += 1;
  user = await world.addUser(`user${users}`);
});
afterAll(() => world.close());

async function signedIn(phone: StockPhone): Promise<StockApp> {
  const app = new StockApp({ ask: askByHttp(world.serverUrl), phone, realmUrl: world.serverUrl });
  await app.signIn(user.email, user.password);
  return app;
}

/** An app whose registration the relay has confirmed. */
async function registered(kind: 'fcm' | 'apns'): Promise<StockApp> {
  const app = await signedIn(await newPhone(world, kind));
  await app.start();
  await settle(app);
  expect(app.device).toMatchObject({ push_token_id: app.phone.tokenId, pending_push_token_id: null });
  return app;
}

async function settle(app: StockApp): Promise<void> {
  await world.idle();
  await app.poll();
}

/** Sends the user a message, and lets the apps receive it. Returns the tokens of the deliveries. */
async function notified(...apps: readonly StockApp[]): Promise<string[]> {
  await world.sendMessage(sender, user);
  await world.idle();
  const deliveries = await world.takeDeliveries();
  for (const app of apps) {
    for (const { token, body } of deliveries) if (token === app.phone.token) app.receive(body);
  }
  return deliveries.map(({ token }) => token);
}

describe('a stock app at our server', () => {
  it.each(['fcm', 'apns'] as const)(
    'registers only once with %s, and shows each message once',
    async (kind) => {
      const app = await registered(kind);
      expect(app.sent).toEqual([['device_id', ...keyGroup, ...tokenGroup]]);
      await app.start();
      await settle(app);
      expect([app.sent.length, app.refusals]).toEqual([1, []]);
      expect(await notified(app)).toEqual([app.phone.token]);
      expect([...app.shown.values()]).toEqual([1]);
      const [messageId] = app.shown.keys();
      await world.ask(user, 'POST', 'messages/flags', {
        messages: JSON.stringify([messageId]),
        op: 'add',
        flag: 'read',
      });
      await world.idle();
      const removals = await world.takeDeliveries();
      expect(removals.map(({ body }) => app.receive(body))).toEqual(['removed']);
    },
  );

  it('keeps its previous token until the relay has confirmed the new one', async () => {
    const app = await registered('fcm');
    const former = app.phone.token;
    await world.stopRelay();
    await app.changeToken(newToken('fcm'));
    await app.poll();
    expect(app.device).toMatchObject({
      pending_push_token_id: app.phone.tokenId,
      push_registration_error_code: null,
    });
    // While the token is pending, a restart of the app sends nothing.
    await app.start();
    expect(app.sent.slice(1)).toEqual([['device_id', ...tokenGroup]]);
    await world.startRelay();
    world.time.ahead += 10 * 60_000;
    await settle(app);
    expect(app.device).toMatchObject({ push_token_id: app.phone.tokenId, pending_push_token_id: null });
    expect(await notified(app)).toEqual([app.phone.token]);
    expect(app.phone.token).not.toBe(former);
  });

  it('rotates its key after 30 days, and still opens earlier notifications', async () => {
    const app = await registered('apns');
    await world.sendMessage(sender, user);
    await world.idle();
    const before = await world.takeDeliveries();
    const [first] = app.keys;
    world.time.ahead += 30 * day;
    await app.start();
    await settle(app);
    expect(app.sent.at(-1)?.slice(0, 3)).toEqual(['device_id', ...keyGroup]);
    expect(app.device?.push_key_id).toBe(app.keys.at(-1)?.id);
    expect(app.keys).toHaveLength(2);
    expect(before.map(({ body }) => app.receive(body))).toEqual(['shown']);
    expect(await notified(app)).toEqual([app.phone.token]);
    expect([...app.shown.values()]).toEqual([1, 1]);
    // The next start marks the old key as superseded. A start 30 days later deletes it.
    await app.start();
    world.time.ahead += 30 * day;
    await app.start();
    expect(app.keys.map(({ id }) => id)).not.toContain(first?.id);
    await settle(app);
    expect(await notified(app)).toEqual([app.phone.token]);
    expect(app.refusals).toEqual([]);
  });

  it('gets notifications at its previous token while the relay refuses its built-in key, and registers after an update', async () => {
    const app = await registered('fcm');
    const former = app.phone.token;
    const goodKey = app.phone.bouncerPublicKey;
    app.phone.bouncerPublicKey = randomBytes(32).toString('base64');
    await app.changeToken(newToken('fcm'));
    await settle(app);
    expect(app.device).toMatchObject({
      push_registration_error_code: 'INVALID_BOUNCER_PUBLIC_KEY',
      pending_push_token_id: app.phone.tokenId,
    });
    expect(await notified()).toEqual([former]);
    app.phone.bouncerPublicKey = goodKey;
    await app.start();
    await settle(app);
    expect(app.device).toMatchObject({
      push_registration_error_code: null,
      push_token_id: app.phone.tokenId,
    });
    expect(await notified(app)).toEqual([app.phone.token]);
  });

  it('fails with REQUEST_EXPIRED while the phone’s clock is slow, and registers once the clock is correct', async () => {
    const phone = await newPhone(world, 'apns');
    const slow = { behind: day + 60_000 };
    Object.assign(phone, { clock: () => world.clock() - slow.behind });
    const app = await signedIn(phone);
    await app.start();
    await settle(app);
    expect(app.device?.push_registration_error_code).toBe('REQUEST_EXPIRED');
    slow.behind = 0;
    await app.start();
    await settle(app);
    expect(app.device).toMatchObject({
      push_registration_error_code: null,
      push_token_id: app.phone.tokenId,
    });
    expect(await notified(app)).toEqual([app.phone.token]);
  });

  it('gets no notifications after logging out, unlike the user’s other phone', async () => {
    const [app, other] = [await registered('fcm'), await registered('apns')];
    expect((await notified(app, other)).sort()).toEqual([app.phone.token, other.phone.token].sort());
    await app.logOut();
    await other.poll();
    expect(Object.keys(other.devices)).toEqual([String(other.deviceId)]);
    expect(await notified(other)).toEqual([other.phone.token]);
    expect(app.refusals).toEqual([]);
    // Signing in again on the same phone creates a new device.
    await app.signIn(user.email, user.password);
    await app.start();
    await settle(app);
    expect(await notified(app, other)).toHaveLength(2);
  });

  it('gets no notifications after the user changed the password', async () => {
    const app = await registered('fcm');
    await world.setPassword(user);
    expect(await notified()).toEqual([]);
    await app.logOut();
    await app.signIn(user.email, user.password);
    await app.start();
    await settle(app);
    expect(await notified(app)).toEqual([app.phone.token]);
  });

  it('registers again after the vendor reported its token as dead', async () => {
    const app = await registered('fcm');
    await world.setFaults([{ vendor: 'fcm', token: app.phone.token, status: 404, reason: 'UNREGISTERED' }]);
    expect(await notified()).toEqual([]);
    await world.setFaults([]);
    await app.poll();
    expect(app.device?.push_token_id).toBeNull();
    await app.start();
    await settle(app);
    expect(await notified(app)).toEqual([app.phone.token]);
  });
});
