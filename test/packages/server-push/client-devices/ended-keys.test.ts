import type { UserId } from '@waxwing/protocol';
import { removePushDevicesOf } from '@waxwing/server-push';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { userId as user } from '../../../support/ids.js';
import { keyGroup, PushServer, tokenGroup, tokenIdOf } from '../../../support/push-server.js';
import { eachBackend } from '../../../support/test-databases.js';

const [ada, bob] = [user(7), user(8)];
const hour = 3_600_000;
const token = tokenIdOf('token');

eachBackend((backend) => {
  let server: PushServer;
  /** Devices of two users on the same phone, with the keys 1 and 2. */
  let [first, second] = [0, 0];
  beforeEach(async () => {
    server = await PushServer.start(backend);
    first = await server.activeDevice(ada, 'token', 1);
    second = await server.activeDevice(bob, 'token', 2);
  });
  afterEach(() => server.close());

  const tokenOf = async (id: number, userId: UserId) =>
    (await server.push.clientDevicesOf(userId))[id]?.push_token_id;
  const signOut = (userId: UserId, id: number) =>
    server.ask(userId, 'remove_client_device', { device_id: String(id) });
  const removeUser = (userId: UserId) =>
    server.database.write((transaction) =>
      removePushDevicesOf(
        { database: server.database, clock: () => server.now, publish: async () => undefined },
        transaction,
        userId,
      ),
    );

  it.each([
    ['signs out', () => signOut(ada, first)],
    ['is deactivated or gets a new API key', () => removeUser(ada)],
  ])(
    'the relay is asked to end the keys of a user who %s, while another user keeps the token',
    async (_, leave) => {
      await leave();
      await server.settle();
      expect([server.relay.ended, server.relay.removed]).toEqual([[`${token} 1`], []]);
      expect(await tokenOf(second, bob)).toBe(token);
      await signOut(bob, second);
      await server.settle();
      // Removing the token removes everything that the relay stores for it.
      expect([server.relay.ended, server.relay.removed]).toEqual([[`${token} 1`], [token]]);
    },
  );

  it('a key ends before the relay confirms the token of the user who signs in again', async () => {
    await signOut(bob, second);
    await server.settle();
    server.relay.around = ({ path }, react) => (path.includes('register') ? { status: 503 } : react());
    const again = await server.createDevice(ada);
    await server.register(ada, again, { ...keyGroup(3), ...tokenGroup('token') });
    await signOut(ada, first);
    await server.settle();
    expect([server.relay.ended, server.relay.removed]).toEqual([[`${token} 2`, `${token} 1`], []]);
    server.relay.around = (__, react) => react();
    await server.pass(hour);
    expect(await tokenOf(again, ada)).toBe(token);
    expect(server.relay.removed).toEqual([]);
  });

  it('a key ends when another device of the user takes its token, as after an offline sign-out', async () => {
    server.now += 1;
    const again = await server.activeDevice(ada, 'token', 3);
    expect([await tokenOf(first, ada), await tokenOf(again, ada)]).toEqual([null, token]);
    expect([server.relay.ended, server.relay.removed]).toEqual([[`${token} 1`], []]);
  });

  it('a key ends for the previous token of a phone with a new token', async () => {
    await server.register(ada, first, tokenGroup('another'));
    await server.settle();
    expect([server.relay.ended, server.relay.removed]).toEqual([[`${token} 1`], []]);
  });

  it('a key does not end while another device has it', async () => {
    const copy = await server.activeDevice(bob, 'token', 1);
    await signOut(ada, first);
    await server.settle();
    expect(server.relay.ended).toEqual([`${token} 2`]);
    expect(await tokenOf(copy, bob)).toBe(token);
  });

  it('a replaced key does not end until its user signs out, because the phone keeps it', async () => {
    for (const id of [3, 4]) {
      server.now += hour;
      await server.register(ada, first, keyGroup(id));
    }
    await server.settle();
    expect(server.relay.ended).toEqual([]);
    await signOut(ada, first);
    await server.settle();
    expect(server.relay.ended).toEqual([4, 3, 1].map((id) => `${token} ${id}`));
  });

  it('the server keeps at most ten replaced keys, for a day', async () => {
    await server.register(ada, first, keyGroup(3));
    server.now += 26 * hour;
    for (let id = 4; id < 16; id += 1) await server.register(ada, first, keyGroup(id));
    // Reuses the key id with different bytes.
    await server.register(ada, first, { push_key_id: '15', push_key: keyGroup(16).push_key });
    await signOut(ada, first);
    await server.settle();
    const ids = server.relay.ended.map((name) => Number(name.split(' ')[1]));
    expect(ids).toEqual([15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5]);
  });

  it('a key ends once the relay is back, even if the server was restarted during the outage', async () => {
    server.relay.isDown = true;
    await signOut(ada, first);
    await server.settle();
    expect(server.relay.ended).toEqual([]);
    await server.stop();
    server.relay.isDown = false;
    await server.boot();
    await server.pass(hour);
    expect([server.relay.ended, server.relay.removed]).toEqual([[`${token} 1`], []]);
  });

  it('a key ends if the relay reports its token as dead, unless the phone has re-registered', async () => {
    server.relay.tokens.clear();
    await server.notify(ada);
    await server.notify(bob);
    expect([await tokenOf(first, ada), await tokenOf(second, bob)]).toEqual([null, null]);
    await server.register(bob, second, tokenGroup('token'));
    await server.settle();
    await server.pass(hour);
    expect([server.relay.ended, server.relay.removed]).toEqual([[`${token} 1`], []]);
  });
});
