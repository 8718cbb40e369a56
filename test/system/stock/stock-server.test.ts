import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newPhone, openedBy, registerAt } from './stock-devices-of.js';
import type { StockServer, StockUser } from './stock-server.js';
import { StockWorld } from './stock-world.js';

const message = { type: 'message', message_id: 45, content: 'hello' } as const;
const otherKey = Buffer.alloc(32, 7).toString('base64');
const daySeconds = 86_400;
let world: StockWorld;
let server: StockServer;
let ada: StockUser;
let users = 0;

beforeAll(async () => {
  world = await StockWorld.create();
  await world.startRelay();
  server = await world.stockServer('chat');
});
beforeEach(async () => {
  await world.takeDeliveries();
  users += 1;
  ada = { userId: users, uuid: `5e7c2f6a-3f0f-4f4e-8f0a-${String(users).padStart(12, '0')}` };
  server.log.length = 0;
  server.exhausted.length = 0;
});
afterAll(() => world.close());

const rowOf = (deviceId: number) => server.devices.rows.get(deviceId);
const updates = () => server.devices.eventsOf(ada.userId).filter(({ op }) => op === 'update');

describe('a stock server that registers devices at our relay', () => {
  it('notifies devices of both vendors once each, and only the phones can read the notifications', async () => {
    const devices = [];
    for (const kind of ['fcm', 'apns', 'fcm', 'apns'] as const) {
      devices.push(await registerAt(server, ada, await newPhone(world, kind)));
    }
    for (const { deviceId, phone } of devices) {
      expect(rowOf(deviceId)).toMatchObject({
        tokenId: phone.tokenId,
        pendingTokenId: null,
        errorCode: null,
      });
    }
    server.notify(ada, message);
    await server.work();
    const deliveries = await world.takeDeliveries();
    expect(deliveries).toHaveLength(4);
    for (const device of devices) {
      const whole = { ...message, user_id: ada.userId, realm_url: server.realm.url };
      expect(openedBy(device, deliveries)).toMatchObject([whole]);
    }
    const apple = deliveries.find(({ vendor }) => vendor === 'apns');
    const aps = { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' };
    expect(apple?.body.aps).toEqual(aps);
    expect(apple?.headers).toMatchObject({ 'apns-topic': 'org.example.Stock', 'apns-push-type': 'alert' });
    expect([server.log, server.exhausted, server.isPushOn]).toEqual([[], [], true]);
  });

  it.each([
    ['INVALID_BOUNCER_PUBLIC_KEY', () => ({ bouncer_public_key: otherKey })],
    ['INVALID_BOUNCER_PUBLIC_KEY', () => ({ bouncer_public_key: 'no key' })],
    ['BAD_REQUEST', () => ({ encrypted_push_registration: 'AAAA' })],
    ['BAD_REQUEST', () => ({ token_id: '' })],
    ['REQUEST_EXPIRED', (now: number) => ({ sealedAt: now - daySeconds - 60 })],
  ])(
    'gets %s for a faulty registration, and can register the device after the phone has fixed it',
    async (code, spoil) => {
      const phone = await newPhone(world, 'fcm');
      const { sealedAt, ...changes } = { sealedAt: undefined, ...spoil(Math.floor(world.clock() / 1000)) };
      const spoiled = { ...phone.tokenGroup(sealedAt), ...changes };
      const device = await registerAt(server, ada, phone, spoiled);
      expect(updates().at(-1)).toEqual({
        type: 'device',
        op: 'update',
        device_id: device.deviceId,
        push_registration_error_code: code,
      });
      const again = server.devices.register(ada.userId, {
        device_id: String(device.deviceId),
        ...phone.tokenGroup(),
      });
      expect(again.status).toBe(200);
      await server.work();
      expect(rowOf(device.deviceId)).toMatchObject({ tokenId: phone.tokenId, errorCode: null });
      expect(server.exhausted).toEqual([]);
    },
  );

  it('notifies the old token until the relay has confirmed the new one', async () => {
    const phone = await newPhone(world, 'apns');
    const device = await registerAt(server, ada, phone);
    const former = phone.token;
    phone.token = (await newPhone(world, 'apns')).token;
    const fields = { device_id: String(device.deviceId), ...phone.tokenGroup() };
    server.devices.register(ada.userId, fields);
    expect((await server.testNotification(ada)).status).toBe(200);
    await server.work();
    expect((await server.testNotification(ada)).status).toBe(200);
    const tokens = (await world.takeDeliveries()).map(({ token }) => token);
    expect(tokens).toEqual([former, phone.token]);
  });

  it('reports a realm that the relay does not know as the administrator’s problem', async () => {
    const credentials = await world.credentialsFor('new', '0f3d6c8e-7b1a-4c55-9d2e-6a1b2c3d4e5f');
    const unknown = await world.stockServer('unknown', { credentials });
    const phone = await newPhone(world, 'fcm');
    const device = await registerAt(unknown, ada, phone);
    const line = `ERROR Push device registration request for device_id=${device.deviceId} failed.`;
    expect(unknown.log).toEqual([line, line, line, line]);
    expect(unknown.exhausted).toEqual([`registration of device ${device.deviceId}`]);
    // The next hourly report adds the realm to the relay.
    await unknown.reportHourly();
    const second = await registerAt(unknown, ada, await newPhone(world, 'fcm'));
    expect(unknown.devices.rows.get(second.deviceId)?.tokenId).toBe(second.phone.tokenId);
  });
});

describe('a stock server that notifies through our relay', () => {
  it('retracts a notification in the background', async () => {
    const device = await registerAt(server, ada, await newPhone(world, 'apns'));
    server.notify(ada, { type: 'remove', message_ids: [31, 32] });
    await server.work();
    const deliveries = await world.takeDeliveries();
    expect(openedBy(device, deliveries)).toMatchObject([{ type: 'remove', message_ids: [31, 32] }]);
    expect(deliveries[0]?.body.aps).toEqual({ 'mutable-content': 1 });
    expect(deliveries[0]?.headers).toMatchObject({ 'apns-priority': '5', 'apns-push-type': 'background' });
  });

  it('notifies two users of one phone, and forgets a dead token only for the notified user', async () => {
    const phone = await newPhone(world, 'fcm');
    const bob = { ...ada, userId: 1000 + ada.userId };
    const [ofAda, ofBob] = [await registerAt(server, ada, phone), await registerAt(server, bob, phone)];
    for (const user of [ada, bob]) server.notify(user, message);
    await server.work();
    const deliveries = await world.takeDeliveries();
    expect(openedBy(ofAda, deliveries)).toMatchObject([{ user_id: ada.userId }]);
    expect(openedBy(ofBob, deliveries)).toMatchObject([{ user_id: bob.userId }]);

    await world.setFaults([{ vendor: 'fcm', token: phone.token, status: 404, reason: 'UNREGISTERED' }]);
    server.notify(ada, message);
    await server.work();
    await world.setFaults([]);
    expect(rowOf(ofAda.deviceId)?.tokenId).toBeNull();
    expect(rowOf(ofBob.deviceId)?.tokenId).toBe(phone.tokenId);
    // The relay has recorded that the token is dead. The server learns this for the other account from that account's
    // next notification.
    expect(await server.testNotification(bob)).toMatchObject({ body: { code: 'NO_ACTIVE_PUSH_DEVICE' } });
    expect(rowOf(ofBob.deviceId)?.tokenId).toBeNull();
    expect(await world.takeDeliveries()).toEqual([]);
    // A new registration revives the device.
    server.devices.register(ada.userId, { device_id: String(ofAda.deviceId), ...phone.tokenGroup() });
    await server.work();
    expect((await server.testNotification(ada)).status).toBe(200);
  });

  it('responds to each outcome of a test notification', async () => {
    expect(await server.testNotification(ada)).toMatchObject({ body: { code: 'NO_ACTIVE_PUSH_DEVICE' } });
    const one = await registerAt(server, ada, await newPhone(world, 'fcm'));
    const other = await registerAt(server, ada, await newPhone(world, 'apns'));
    expect((await server.testNotification(ada, { device_id: String(one.deviceId) })).status).toBe(200);
    const deliveries = await world.takeDeliveries();
    expect(deliveries.map(({ token }) => token)).toEqual([one.phone.token]);
    expect(openedBy(one, deliveries)).toMatchObject([{ type: 'test', user_id: ada.userId }]);
    const dead = { vendor: 'fcm', token: one.phone.token, status: 404, reason: 'UNREGISTERED' };
    await world.setFaults([dead]);
    // Only one of the two tokens is dead, so only this token's device loses it.
    expect((await server.testNotification(ada)).status).toBe(200);
    expect([rowOf(one.deviceId)?.tokenId, rowOf(other.deviceId)?.tokenId]).toEqual([
      null,
      other.phone.tokenId,
    ]);
    await world.setFaults([
      { ...dead, vendor: 'apns', token: other.phone.token, status: 410, reason: 'Unregistered' },
    ]);
    expect(await server.testNotification(ada)).toMatchObject({ body: { code: 'NO_ACTIVE_PUSH_DEVICE' } });
    await world.setFaults([]);
  });

  it('forgets its plaintext tokens, because the relay stores none', async () => {
    server.plainTokens.set(ada.userId, [
      { token: 'plain', kind: 'fcm' },
      { token: 'c0ffee', kind: 'apns' },
    ]);
    const device = await registerAt(
      server,
      { ...ada, userId: ada.userId + 2000 },
      await newPhone(world, 'fcm'),
    );
    server.notify(ada, message);
    await server.work();
    expect(server.plainTokens.get(ada.userId)).toEqual([]);
    expect(rowOf(device.deviceId)?.tokenId).toBe(device.phone.tokenId);
    expect([server.log, server.exhausted, server.isPushOn]).toEqual([[], [], true]);
  });

  it('activates a device although its plaintext token is unknown to the relay', async () => {
    const phone = await newPhone(world, 'fcm');
    server.plainTokens.set(ada.userId, [{ token: phone.token, kind: 'fcm' }]);
    const device = await registerAt(server, ada, phone);
    expect(rowOf(device.deviceId)).toMatchObject({ tokenId: phone.tokenId, errorCode: null });
    expect(server.exhausted).toEqual([]);
  });

  it('drops the devices of a user who gets a new API key, and its worker continues', async () => {
    await registerAt(server, ada, await newPhone(world, 'fcm'));
    server.regenerateApiKey(ada);
    server.notify(ada, message);
    await server.work();
    expect(server.devices.of(ada.userId)).toEqual([]);
    expect(await world.takeDeliveries()).toEqual([]);
    expect([server.log, server.exhausted]).toEqual([[], []]);
  });
});
