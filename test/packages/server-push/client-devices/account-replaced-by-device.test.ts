import { removePushDevicesOf } from '@waxwing/server-push';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userId as user } from '../../../support/ids.js';
import { keyGroup, PushServer, tokenGroup, tokenIdOf } from '../../../support/push-server.js';
import { eachBackend } from '../../../support/test-databases.js';

const [ada, bob] = [user(7), user(8)];
const day = 86_400_000;

eachBackend((backend) => {
  let server: PushServer;
  beforeEach(async () => {
    server = await PushServer.start(backend);
  });
  afterEach(() => server.close());

  const token = async (id: number) => (await server.push.clientDevicesOf(ada))[id]?.push_token_id;

  describe('a token that an account of the older generation also has', () => {
    const accounts = async (userId = ada) => Object.keys(await server.push.pushDevicesOf(userId));
    const removedDevices = () =>
      server.relay.stand.requests
        .filter(({ path }) => path.endsWith('/remove'))
        .flatMap(({ body }) => JSON.parse(new URLSearchParams(body).get('device_ids') ?? '[]') as number[]);

    beforeEach(async () => {
      for (const [userId, account] of [
        [ada, '5'],
        [ada, '6'],
        [bob, '7'],
      ] as const) {
        await server.activeAccount(userId, account);
      }
      server.relay.accountsOfToken.set(tokenIdOf('token'), [5, 7]);
      server.events.length = 0;
    });

    it('replaces the account without an event, and keeps other accounts and users', async () => {
      const id = await server.activeDevice(ada, 'token');
      expect([await token(id), await accounts(), await accounts(bob)]).toEqual([
        tokenIdOf('token'),
        ['6'],
        ['7'],
      ]);
      expect(server.events.filter(({ event }) => event.type === 'push_device')).toEqual([]);
      await server.notify(ada);
      expect(server.relay.deliveries.map(({ deviceId, tokenId }) => deviceId ?? tokenId)).toEqual([
        2,
        tokenIdOf('token'),
      ]);
    });

    describe('leaves the account’s relay device, which may have a queued notification, until', () => {
      let id: number;
      beforeEach(async () => {
        id = await server.activeDevice(ada, 'token');
      });

      it('a day has passed', async () => {
        await server.pass(day);
        expect(removedDevices()).toEqual([]);
        await server.pass(day / 24);
        expect(removedDevices()).toEqual([1]);
      });

      it('the phone signs out', async () => {
        await server.ask(ada, 'remove_client_device', { device_id: String(id) });
        await server.settle();
        expect(removedDevices()).toEqual([1]);
        expect(server.relay.removed).toEqual([tokenIdOf('token')]);
      });

      it('all of the user’s phones are signed out', async () => {
        const { database } = server;
        const context = { database, publish: async () => undefined, clock: () => server.now };
        await database.write((transaction) => removePushDevicesOf(context, transaction, ada));
        await server.settle();
        expect(removedDevices()).toContain(1);
      });

      it('the phone loses its stores and registers another device', async () => {
        server.now += 1;
        await server.activeDevice(ada, 'token');
        expect(removedDevices()).toEqual([1]);
      });

      it('the phone changes its token and signs out', async () => {
        await server.register(ada, id, tokenGroup('another'));
        await server.settle();
        expect(removedDevices()).toEqual([]);
        await server.ask(ada, 'remove_client_device', { device_id: String(id) });
        await server.settle();
        expect(removedDevices()).toEqual([1]);
      });
    });

    it('keeps the account while the relay refuses the token', async () => {
      server.relay.refusal = 'BAD_REQUEST';
      await server.activeDevice(ada, 'token');
      expect(await accounts()).toEqual(['5', '6']);
    });

    it('is replaced by the account if the phone has re-registered in the older generation', async () => {
      const id = await server.createDevice(ada);
      server.relay.isDown = true;
      await server.register(ada, id, { ...keyGroup(1), ...tokenGroup('token') });
      await server.settle();
      server.relay.isDown = false;
      server.now += 1;
      await server.activeAccount(ada, '5');
      await server.pass(60_000);
      expect([await token(id), await accounts()]).toEqual([null, ['5', '6']]);
    });

    it('keeps the account if the device no longer exists when the relay confirms the token', async () => {
      const id = await server.createDevice(ada);
      server.relay.isDown = true;
      await server.register(ada, id, { ...keyGroup(1), ...tokenGroup('token') });
      await server.settle();
      await server.ask(ada, 'remove_client_device', { device_id: String(id) });
      server.relay.isDown = false;
      await server.pass(60_000);
      expect(await accounts()).toEqual(['5', '6']);
    });
  });
});
