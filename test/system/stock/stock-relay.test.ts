import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askByHttp } from './ask-servers.js';
import { StockApp } from './stock-app.js';
import { newToken } from './stock-devices-of.js';
import { StockPhone } from './stock-phone.js';
import { registerFields } from './stock-relay.js';
import { StockRelayWorld } from './stock-relay-world.js';
import type { WorldUser } from './stock-world.js';

let world: StockRelayWorld;
let sender: WorldUser;
let user: WorldUser;
let users = 0;

beforeAll(async () => {
  world = await StockRelayWorld.create();
  sender = await world.addUser('sender');
});
beforeEach(async () => {
  world.relay.takeDeliveries();
  world.relay.requests.length = 0;
  users += 1;
  user = await world.addUser(`user${users}`);
});
afterAll(() => world.close());

function phoneOf(kind: 'fcm' | 'apns', bouncerPublicKey = world.relay.bouncerPublicKey): StockPhone {
  return new StockPhone({ token: newToken(kind), kind, bouncerPublicKey, clock: world.clock });
}

async function appOn(phone: StockPhone): Promise<StockApp> {
  const app = new StockApp({ ask: askByHttp(world.serverUrl), phone, realmUrl: world.serverUrl });
  await app.signIn(user.email, user.password);
  await app.start();
  return app;
}

async function registered(kind: 'fcm' | 'apns'): Promise<StockApp> {
  const app = await appOn(phoneOf(kind));
  await settle(app);
  expect(app.isSettled).toBe(true);
  return app;
}

async function settle(...apps: readonly StockApp[]): Promise<void> {
  await world.idle();
  for (const app of apps) await app.poll();
}

/** Passes all deliveries of the vendors to the apps. Returns the tokens of the deliveries. */
function deliver(...apps: readonly StockApp[]): string[] {
  const deliveries = world.relay.takeDeliveries();
  for (const app of apps) {
    for (const { token, body } of deliveries) if (token === app.phone.token) app.receive(body);
  }
  return deliveries.map(({ token }) => token);
}

const pathsOf = (status: number) =>
  world.relay.requests.flatMap((request) => (request.status === status ? [request.path] : []));
const notifications = () =>
  world.relay.requests.filter(({ path }) => path.endsWith('/notify')).map(({ body }) => JSON.parse(body));

describe('our server at a stock relay', () => {
  it('registers with the form of a stock server, and notifies with a stock server’s JSON', async () => {
    const app = await registered('apns');
    await world.sendMessage(sender, user);
    await world.idle();
    const [registration, notification] = world.relay.requests;
    const authorization = `Basic ${btoa(`${world.relay.serverId}:${world.relay.serverKey}`)}`;
    expect(registration).toMatchObject({
      method: 'POST',
      path: '/api/v1/remotes/push/e2ee/register',
      status: 200,
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([...new URLSearchParams(registration?.body).keys()].sort()).toEqual(
      ['bouncer_public_key', 'encrypted_push_registration', 'realm_uuid', 'token_id'].sort(),
    );
    expect(notification?.headers).toMatchObject({ authorization, 'content-type': 'application/json' });
    expect(JSON.parse(notification?.body ?? '')).toEqual({
      realm_uuid: world.server.realmUuid,
      push_requests: [
        {
          token_id: app.phone.tokenId,
          http_headers: { apns_priority: 10, apns_push_type: 'alert' },
          payload: {
            push_key_id: app.keys[0]?.id,
            encrypted_data: expect.any(String),
            aps: { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' },
          },
        },
      ],
    });
    expect(deliver(app)).toEqual([app.phone.token]);
    expect([...app.shown.values()]).toEqual([1]);
  });

  it('sends one request per device, so each of three phones of two vendors shows a message once', async () => {
    const apps = [await registered('apns'), await registered('apns'), await registered('fcm')];
    await world.startServer();
    for (let message = 0; message < 2; message += 1) await world.sendMessage(sender, user);
    await world.idle();
    expect(deliver(...apps).sort()).toEqual(apps.flatMap(({ phone }) => [phone.token, phone.token]).sort());
    expect(apps.map(({ shown }) => [...shown.values()])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
    expect(notifications().map((body) => body.push_requests.length)).toEqual(Array(6).fill(1));
    expect(pathsOf(500)).toEqual([]);
  });

  it('resends only to the device for which the relay failed after delivery, and our app shows the message once', async () => {
    const token = newToken('fcm');
    const { client, registrar } = await world.ourPhone(user, token);
    expect(await registrar.sync()).toMatchObject({ code: 'active' });
    const stock = await registered('fcm');
    world.relay.failuresAfterDelivery = 1;
    const id = await world.sendMessage(sender, user);
    await world.idle();
    await world.pass(60_000);
    const deliveries = world.relay.takeDeliveries();
    const count = (of: string) => deliveries.filter((each) => each.token === of).length;
    expect([count(token), count(stock.phone.token)]).toEqual([2, 1]);
    const opened = [];
    for (const each of deliveries.filter((delivery) => delivery.token === token)) {
      opened.push(await client.open((each.body.message as { data: Record<string, string> }).data));
    }
    expect(opened).toMatchObject([
      { kind: 'notification', notification: { message_id: id } },
      { kind: 'ignored' },
    ]);
  });

  it('sends no request that only our relay supports, once it has detected a stock relay', async () => {
    const app = await registered('fcm');
    await world.sendMessage(sender, user);
    await world.idle();
    world.relay.isDown = true;
    const apps = [await appOn(phoneOf('fcm')), await appOn(phoneOf('apns')), await appOn(phoneOf('fcm'))];
    await world.idle();
    world.relay.isDown = false;
    world.relay.requests.length = 0;
    await world.pass(3_600_000);
    await settle(...apps);
    expect(apps.map(({ isSettled }) => isSettled)).toEqual([true, true, true]);
    await app.changeToken(newToken('fcm'));
    await settle(app);
    expect(app.isSettled).toBe(true);
    await app.logOut();
    const ours = await world.ourPhone(user, newToken('fcm'));
    expect(await ours.registrar.sync()).toMatchObject({ code: 'active' });
    await ours.registrar.forget();
    await world.idle();
    const registrations = world.relay.requests.filter(({ path }) => path.endsWith('/register'));
    expect(registrations.length).toBeGreaterThan(4);
    for (const { body } of registrations) {
      expect([...new URLSearchParams(body).keys()].sort()).toEqual(registerFields);
    }
    // Only our client's request for a key list gets 404, because a stock relay has none.
    expect([...new Set(pathsOf(404))]).toEqual(['/api/v1/remotes/push/e2ee/keys']);
    world.relay.takeDeliveries();
    await world.sendMessage(sender, user);
    await world.idle();
    expect(deliver(app, ...apps).sort()).toEqual(apps.map(({ phone }) => phone.token).sort());
  });

  it('registers phones one by one even before it has detected the kind of relay', async () => {
    await world.startServer();
    world.relay.isDown = true;
    const apps = [await appOn(phoneOf('fcm')), await appOn(phoneOf('fcm'))];
    await world.idle();
    world.relay.isDown = false;
    await world.pass(3_600_000);
    await settle(...apps);
    // The registration contains the user's other tokens, which a stock relay ignores.
    const bodies = world.relay.requests.map(({ body }) => new URLSearchParams(body));
    expect(bodies.some((form) => form.has('token_ids_of_user'))).toBe(true);
    expect(apps.map(({ isSettled }) => isSettled)).toEqual([true, true]);
  });

  it('drops a token that the vendor reports as dead, and the phone can register another', async () => {
    const app = await registered('apns');
    world.relay.dead.add(app.phone.token);
    await world.sendMessage(sender, user);
    await settle(app);
    expect(app.device).toMatchObject({ push_token_id: null });
    await app.changeToken(newToken('apns'));
    await settle(app);
    await world.sendMessage(sender, user);
    await world.idle();
    expect(deliver(app)).toEqual([app.phone.token]);
  });

  it('has no key list for phones, which then use the app’s built-in key', async () => {
    const { status, body } = await askByHttp(world.serverUrl)(
      'GET',
      'mobile_push/bouncer_keys',
      {},
      undefined,
    );
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    const { registrar } = await world.ourPhone(user, newToken('fcm'));
    const registered = await registrar.sync();
    expect(registered).toMatchObject({ code: 'active', keySource: 'built-in' });
  });

  it('reports to the phone that its app has the key of another relay', async () => {
    const other = Buffer.alloc(32, 9).toString('base64');
    const app = await appOn(phoneOf('fcm', other));
    await settle(app);
    expect(app.device).toMatchObject({ push_registration_error_code: 'INVALID_BOUNCER_PUBLIC_KEY' });
  });

  it('sends a test to two phones of one vendor, although the relay does not accept both in one request', async () => {
    await registered('fcm');
    await registered('fcm');
    const { code, text } = await world.command('push', 'test', '--user', user.email);
    expect([code, text]).toEqual([0, '2 sent.']);
    expect(world.relay.takeDeliveries()).toHaveLength(2);
  });

  it('checks the relay, and reports a notification that the relay dropped without giving a reason', async () => {
    await registered('fcm');
    const check = await world.command('push', 'status');
    expect([check.code, check.text]).toEqual([0, expect.stringContaining('phones use the key in the app')]);
    const sent = await world.command('push', 'send', '--user', user.email, '--text', 'hello');
    expect([sent.code, sent.text]).toEqual([0, expect.stringContaining('1 sent.')]);
    world.relay.withoutCredentials.add('fcm');
    const dropped = await world.command('push', 'send', '--user', user.email, '--text', 'hello');
    world.relay.withoutCredentials.clear();
    expect([dropped.code, dropped.text]).toEqual([1, expect.stringContaining('the relay does not say why')]);
    expect((await world.command('push', 'status')).text).toContain('The relay does not say why');
    world.relay.isDeactivated = true;
    const deactivated = await world.command('push', 'status');
    world.relay.isDeactivated = false;
    expect([deactivated.code, deactivated.text]).toEqual([
      1,
      expect.stringContaining('has been deactivated'),
    ]);
  });
});
