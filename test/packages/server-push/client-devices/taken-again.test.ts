import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userId as user } from '../../../support/ids.js';
import { keyGroup, PushServer, tokenGroup, tokenIdOf } from '../../../support/push-server.js';
import { eachBackend } from '../../../support/test-databases.js';

const [ada, bob] = [user(7), user(8)];

eachBackend((backend) => {
  let server: PushServer;
  beforeEach(async () => {
    server = await PushServer.start(backend);
  });
  afterEach(() => server.close());

  const token = async (id: number, userId = ada) =>
    (await server.push.clientDevicesOf(userId))[id]?.push_token_id;
  const update = (id: number, fields: object) => ({ type: 'device', op: 'update', device_id: id, ...fields });

  describe('a token that is registered again during its removal from the relay', () => {
    let id: number;
    beforeEach(async () => {
      const former = await server.activeDevice(ada, 'token');
      await server.settle();
      id = await server.createDevice(bob);
      server.events.length = 0;
      await server.ask(ada, 'remove_client_device', { device_id: String(former) });
    });
    const registerAgain = () => server.register(bob, id, { ...keyGroup(1), ...tokenGroup('token') });
    const isKnown = () => server.relay.tokens.has(tokenIdOf('token'));

    it('is dropped if the relay had already confirmed it, so that the phone re-registers', async () => {
      server.relay.around = async ({ path }, react) => {
        if (!path.endsWith('/remove')) return react();
        await registerAgain();
        await expect.poll(() => token(id, bob)).toBe(tokenIdOf('token'));
        return react();
      };
      await server.settle();
      expect([isKnown(), await token(id, bob)]).toEqual([false, null]);
      expect(server.eventsOf(bob).at(-1)).toEqual(update(id, { push_token_id: null }));
      await registerAgain();
      await server.settle();
      expect([isKnown(), await token(id, bob)]).toEqual([true, tokenIdOf('token')]);
    });

    it('is forwarded again if it was still pending', async () => {
      let registrations = 0;
      server.relay.around = async ({ path }, react) => {
        if (path.endsWith('/remove')) {
          await registerAgain();
          await expect.poll(() => registrations).toBe(1);
          return react();
        }
        const reaction = react();
        registrations += 1;
        // Delays the response to the first registration until the removal is settled.
        if (registrations === 1) await expect.poll(() => registrations).toBe(2);
        return reaction;
      };
      await server.settle();
      await server.pass(60_000);
      await server.pass(60_000);
      expect([isKnown(), await token(id, bob), registrations]).toEqual([true, tokenIdOf('token'), 2]);
    });
  });
});
