import { loadFastestSodium } from '@waxwing/sodium/native';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addUsers } from '../support/add-users.js';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import { CrashPhone, type Generation } from './crash/crash-phone.js';
import { registerWithServer, stateTypes, statusIn } from './crash/server-phones.js';
import { readDeliveries } from './crash/vendor-deliveries.js';

let world: Constellation;
let ada: ConstellationUser;
let bob: ConstellationUser;

beforeEach(async () => {
  world = await Constellation.create();
  [ada, bob] = (await addUsers(world, ['ada', 'bob'])) as [ConstellationUser, ConstellationUser];
  await Promise.all([world.startRelay(), world.startServer()]);
}, 120_000);
afterEach(() => world.close());

describe('a browser or a UnifiedPush phone', () => {
  it.each(['older', 'newer'] as const satisfies Generation[])(
    'registers with a server and opens its messages, in the %s generation',
    async (generation) => {
      const { sodium } = await loadFastestSodium();
      const { bouncerPublicKey, vendors } = world;
      const webPushUrl = vendors.urls.webPush;
      const phone = new CrashPhone({
        sodium,
        bouncerPublicKey,
        kind: 'webpush',
        webPushUrl,
        generation,
      });
      const request = async (path: string, form: Readonly<Record<string, string>>) => {
        const { status, text } = await world.request(ada, 'POST', path.replace('/api/v1/', ''), form);
        return { status, body: JSON.parse(text) };
      };
      const registered = await registerWithServer(phone, request);
      const status = async () =>
        statusIn((await request('register', { fetch_event_types: stateTypes })).body, registered);
      await expect.poll(status, { timeout: 30_000 }).toBe('active');
      const recipients = JSON.stringify([ada.user_id]);
      await world.request(bob, 'POST', 'messages', {
        type: 'direct',
        to: recipients,
        content: 'for a browser',
      });
      const openPush = (_endpoint: string, body: Buffer) => phone.openPush(body);
      const read = async () =>
        (await readDeliveries(vendors.urls.http, openPush)).map(({ token, key, encrypted }) => {
          const { type, content } = phone.open(encrypted) as Record<string, unknown>;
          return { token, key, type, content };
        });
      const { name, id } = phone.keyField;
      await expect.poll(read, { timeout: 30_000 }).toEqual([
        {
          token: phone.address,
          key: { name, id },
          type: 'message',
          content: 'for a browser',
        },
      ]);
    },
    120_000,
  );
});
