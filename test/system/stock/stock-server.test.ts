import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPushKey, openNotification, type PushKey, readDelivered, StockPhone } from './stock-phone.js';
import type { StockServer, StockUser } from './stock-server.js';
import { StockWorld, type VendorDelivery } from './stock-world.js';

const ada: StockUser = { userId: 10, uuid: '5e7c2f6a-3f0f-4f4e-8f0a-0c9a6f1d2b3c' };
const message = { type: 'message', message_id: 45, content: 'hello' } as const;
let used = 0;
let world: StockWorld;
let server: StockServer;

beforeAll(async () => {
  world = await StockWorld.create();
  await world.startRelay();
  server = await world.stockServer('chat');
});
afterAll(() => world.close());

async function phone(kind: 'fcm' | 'apns'): Promise<StockPhone> {
  used += 1;
  const token =
    kind === 'fcm' ? `fcm-${used}:APA91b` : used.toString(16).toUpperCase().padStart(64, 'C0FFEE');
  return new StockPhone({
    token,
    kind,
    bouncerPublicKey: await world.bouncerPublicKey(),
    clock: world.clock,
  });
}

interface Registered {
  readonly phone: StockPhone;
  readonly key: PushKey;
  readonly deviceId: number;
}

async function register(kind: 'fcm' | 'apns', user = ada): Promise<Registered> {
  const own = await phone(kind);
  const key = newPushKey(world.clock());
  const deviceId = Number(server.devices.add(user.userId).body.device_id);
  const fields = {
    device_id: String(deviceId),
    push_key_id: String(key.id),
    push_key: key.bytes.toString('base64'),
    ...own.tokenGroup(),
  };
  expect(server.devices.register(user.userId, fields).status).toBe(200);
  await server.work();
  return { phone: own, key, deviceId };
}

function opened({ phone: { token }, key }: Registered, deliveries: readonly VendorDelivery[]) {
  return deliveries
    .filter((delivery) => delivery.token === token)
    .map(({ body }) => {
      const read = readDelivered(body);
      expect(read?.keyId).toBe(key.id);
      return read && openNotification(read.encrypted, key);
    });
}

describe('a stock Zulip 12 server at our relay', () => {
  it('registers devices of both vendors, and notifies each once with what only the phone reads', async () => {
    const devices = [
      await register('fcm'),
      await register('fcm'),
      await register('apns'),
      await register('apns'),
    ];
    expect(server.devices.takeEvents(ada.userId)).toContainEqual({
      ...{ type: 'device', op: 'update', device_id: devices[0]?.deviceId },
      ...{ push_token_id: devices[0]?.phone.tokenId, pending_push_token_id: null },
    });
    server.notify(ada, message);
    await server.work();
    const deliveries = await world.takeDeliveries();
    expect(deliveries).toHaveLength(4);
    for (const device of devices) {
      expect(opened(device, deliveries)).toMatchObject([
        { ...message, user_id: 10, realm_url: server.realm.url },
      ]);
    }
    const apple = deliveries.filter(({ vendor }) => vendor === 'apns');
    expect(apple[0]?.body.aps).toEqual({
      ...{ 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' },
    });
    expect(apple[0]?.headers).toMatchObject({ 'apns-topic': 'org.example.Stock', 'apns-push-type': 'alert' });
    expect([server.log, server.exhausted]).toEqual([[], []]);
  });

  it('retracts a notification in the background', async () => {
    const device = await register('apns', { ...ada, userId: 11 });
    server.notify({ ...ada, userId: 11 }, { type: 'remove', message_ids: [31, 32] });
    await server.work();
    const deliveries = await world.takeDeliveries();
    expect(opened(device, deliveries)).toMatchObject([{ type: 'remove', message_ids: [31, 32] }]);
    expect(deliveries[0]?.body.aps).toEqual({ 'mutable-content': 1 });
    expect(deliveries[0]?.headers).toMatchObject({ 'apns-priority': '5', 'apns-push-type': 'background' });
  });
});
