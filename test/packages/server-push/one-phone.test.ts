import type { ClientDeviceId } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldAnswers } from '../../support/held-answers.js';
import { userId as user } from '../../support/ids.js';
import { keyGroup, PushServer, tokenGroup, tokenIdOf } from '../../support/push-server.js';
import { eachBackend } from '../../support/test-databases.js';

const [ada, bob] = [user(7), user(8)];
const token = tokenIdOf('token');

eachBackend((backend) => {
  describe('a phone with one token', () => {
    let server: PushServer;
    let held: HeldAnswers;
    beforeEach(async () => {
      server = await PushServer.start(backend);
      server.relay.accountsOfToken.set(token, [1, 2, 3]);
      held = new HeldAnswers(server);
    });
    afterEach(async () => {
      held.releaseAll();
      await server.close();
    });

    const accounts = async (userId = ada) => Object.keys(await server.push.pushDevicesOf(userId));
    const tokens = async (userId = ada) =>
      Object.values(await server.push.clientDevicesOf(userId)).map((device) => device.push_token_id);
    /** Notifies the user. Returns the relay devices and tokens that get the notification. */
    async function reached(): Promise<(number | string | undefined)[]> {
      server.relay.deliveries.length = 0;
      await server.notify(ada);
      return server.relay.deliveries.map(({ deviceId, tokenId }) => deviceId ?? tokenId);
    }
    /** Registers a new device of the newer generation without waiting for the relay. */
    async function registerDevice(): Promise<ClientDeviceId> {
      server.now += 1;
      const id = await server.createDevice(ada);
      await server.register(ada, id, { ...keyGroup(1), ...tokenGroup('token') });
      return id;
    }
    async function registerAccount(account: string): Promise<void> {
      server.now += 1;
      await server.registerAccount(ada, account);
    }

    it('is notified once after it registers in the newer and then in the older generation', async () => {
      const id = await server.activeDevice(ada, 'token');
      await server.activeDevice(bob, 'token', 2);
      server.now += 1;
      server.events.length = 0;
      await server.activeAccount(ada, '1');
      expect([await accounts(), await tokens(), await tokens(bob)]).toEqual([['1'], [null], [token]]);
      expect(server.eventsOf(ada)).toEqual([
        { type: 'device', op: 'update', device_id: id, push_token_id: null, pending_push_token_id: null },
      ]);
      expect(await reached()).toEqual([1]);
      expect(server.relay.removed).toEqual([]);
      expect(server.relay.ended).toEqual([`${token} 1`]);
    });

    it('keeps its token at the relay only while it uses the token', async () => {
      await server.activeDevice(ada, 'token');
      server.now += 1;
      await server.activeAccount(ada, '1');
      expect(server.relay.removed).toEqual([token]);
    });

    it('keeps its device of the newer generation while the relay refuses the older registration', async () => {
      await server.activeDevice(ada, 'token');
      server.relay.refusal = 'BAD_REQUEST';
      server.now += 1;
      await server.activeAccount(ada, '1');
      expect(await tokens()).toEqual([token]);
      expect(await reached()).toEqual([token]);
    });

    it('keeps a device that has another token', async () => {
      await server.activeDevice(ada, 'another');
      server.now += 1;
      await server.activeAccount(ada, '1');
      expect(await reached()).toEqual([1, tokenIdOf('another')]);
    });

    it('is notified once if only the case of its token differs', async () => {
      server.relay.spellings.push([tokenIdOf('C0FFEE'), tokenIdOf('c0ffee')]);
      await server.activeDevice(ada, 'C0FFEE');
      server.now += 1;
      await server.activeDevice(ada, 'c0ffee');
      expect(await tokens()).toEqual([null, tokenIdOf('c0ffee')]);
      expect(server.relay.removed).toEqual([tokenIdOf('C0FFEE')]);
    });

    it('cancels a newer-generation registration whose response arrives after the older generation’s', async () => {
      held.isHolding = true;
      await registerDevice();
      await expect.poll(() => held.count).toBe(1);
      held.isHolding = false;
      await registerAccount('1');
      await expect.poll(async () => (await server.push.pushDevicesOf(ada))['1']?.status).toBe('active');
      held.releaseAll();
      await server.settle();
      expect(await tokens()).toEqual([null]);
      expect(await reached()).toEqual([1]);
      expect([...server.relay.tokens]).toEqual([]);
    });

    it('keeps the older registration if the relay refuses a later registration of the newer generation', async () => {
      // The relay knows the token because another user of the phone has registered it.
      await server.activeDevice(bob, 'token', 2);
      await server.activeAccount(ada, '1');
      const { around } = server.relay;
      server.relay.around = (request, react) =>
        around(request, () => {
          server.relay.refusal = request.body.includes('token_id=')
            ? 'INVALID_BOUNCER_PUBLIC_KEY'
            : undefined;
          return react();
        });
      held.isHolding = true;
      await registerAccount('1');
      await expect.poll(() => held.count).toBe(1);
      const id = await registerDevice();
      await expect.poll(() => held.count).toBe(2);
      held.releaseAll();
      await server.settle();
      await server.pass(3_600_000);
      expect((await server.push.clientDevicesOf(ada))[id]).toMatchObject({
        push_token_id: null,
        push_registration_error_code: 'INVALID_BOUNCER_PUBLIC_KEY',
      });
      expect(await accounts()).toEqual(['1']);
      expect(await reached()).toHaveLength(1);
    });

    it.each(['before', 'after'])(
      'is notified once if the relay refuses a return to the older generation %s it accepts the newer',
      async (order) => {
        await server.activeAccount(ada, '1');
        server.relay.isDown = true;
        const id = await registerDevice();
        await server.settle();
        await registerAccount('1');
        await server.settle();
        server.relay.isDown = false;
        const { around } = server.relay;
        server.relay.around = async (request, react) => {
          if (!request.path.includes('/register')) return around(request, react);
          const isNewer = request.body.includes('token_id=');
          if (isNewer && order === 'after') {
            await expect.poll(async () => (await server.push.pushDevicesOf(ada))['1']?.status).toBe('failed');
          }
          if (!isNewer && order === 'before') await expect.poll(tokens).toEqual([token]);
          server.relay.refusal = isNewer ? undefined : 'BAD_REQUEST';
          return around(request, react);
        };
        await server.pass(3_600_000);
        expect((await server.push.clientDevicesOf(ada))[id]?.push_token_id).toBe(token);
        expect(await reached()).toEqual([token]);
      },
    );

    it('is removed from the older generation within a week after 90 days without a registration', async () => {
      const day = 86_400_000;
      await server.activeAccount(ada, '9');
      await server.pass(50 * day);
      await server.activeDevice(bob, 'another');
      await server.pass(39 * day);
      expect(await accounts()).toEqual(['9']);
      await server.pass(9 * day);
      expect(await accounts()).toEqual([]);
    });

    it('is compared again if it registers while a response from the relay is in flight', async () => {
      const { relay } = server;
      // The relay stores the first registration only after it has responded to the second.
      const { around } = relay;
      let proceed = () => {};
      const stored = new Promise<void>((resolve) => {
        proceed = resolve;
      });
      let isFirst = true;
      relay.around = async (request, react) => {
        if (isFirst && request.path.includes('/register')) {
          isFirst = false;
          await stored;
        }
        return around(request, react);
      };
      await registerAccount('1');
      await expect.poll(() => isFirst).toBe(false);
      await registerDevice();
      await expect.poll(tokens).toEqual([token]);
      proceed();
      await server.settle();
      expect([await accounts(), await reached()]).toEqual([[], [token]]);
    });
  });
});
