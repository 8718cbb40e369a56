import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type PushClient,
} from '@waxwing/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askByHttp } from './ask-servers.js';
import { newToken } from './stock-devices-of.js';
import { StockWorld, type WorldUser } from './stock-world.js';

let world: StockWorld;
let client: PushClient;

beforeAll(async () => {
  world = await StockWorld.create();
  await world.startRelay();
  await world.startServer();
  const token = newToken('fcm');
  client = await createPushClient({
    bouncerPublicKey: await world.bouncerPublicKey(),
    pushToken: () => ({ tokenKind: 'fcm', token }),
    accounts: createMemoryPushAccountStore(),
    seen: createMemorySeenNotifications(),
    clock: world.clock,
  });
});
afterAll(() => world.close());

const registrarOf = ({ userId, email, apiKey }: WorldUser) =>
  client.registrar({ realmUrl: world.serverUrl, userId, email, apiKey });

it('a user of a shared phone gets notifications immediately after changing the password and signing in again', async () => {
  const users = [await world.addUser('ada'), await world.addUser('bob')];
  const [ada, bob] = users as [WorldUser, WorldUser];
  for (const user of users) expect(await registrarOf(user).sync()).toMatchObject({ code: 'active' });
  await world.setPassword(ada);
  await world.idle();
  // At this point, the relay rejects notifications for the old key, because the token still belongs to Bob.
  const { email: username, password } = ada;
  const { body } = await askByHttp(world.serverUrl)(
    'POST',
    'fetch_api_key',
    { username, password },
    undefined,
  );
  const again = { ...ada, apiKey: String(body.api_key) };
  expect(await registrarOf(again).sync()).toMatchObject({ code: 'active' });
  const messageId = await world.sendMessage(bob, again);
  await world.idle();
  const [delivery] = await world.takeDeliveries();
  const { data } = (delivery?.body.message ?? {}) as { data: Record<string, string> };
  expect(await client.open(data)).toMatchObject({
    kind: 'notification',
    notification: { type: 'message', message_id: messageId },
  });
});
