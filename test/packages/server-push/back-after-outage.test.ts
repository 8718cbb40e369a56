import { encodeBase64, relayRemovePath, relayRevokePath } from '@waxwing/protocol';
import { removePushDevicesOf } from '@waxwing/server-push';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userId as user } from '../../support/ids.js';
import { PushServer, pushSodium } from '../../support/push-server.js';
import { type RelayReaction, refused } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const [ada, bob] = [user(7), user(8)];
const minute = 60_000;
const hour = 60 * minute;
const removalKind = 'push-devices/remove-relay-devices';
const revocationKind = 'revocations/forward';
const revocation = {
  bouncer_public_key: encodeBase64(pushSodium.generateKeyPair().publicKey),
  encrypted_push_revocation: encodeBase64(Buffer.alloc(100, 1)),
};

eachBackend((backend) => {
  let server: PushServer;
  /** Paths of the requests that ended a phone's notifications, in order. */
  let asked: string[];
  /** Overrides the relay's reaction to these requests, if set. */
  let reaction: RelayReaction | undefined;
  beforeEach(async () => {
    server = await PushServer.start(backend);
    asked = [];
    reaction = undefined;
    server.relay.around = ({ path }, react) => {
      if (path !== relayRemovePath && path !== relayRevokePath) return react();
      asked.push(path);
      return reaction ?? react();
    };
    await server.activeAccount(ada, '5');
  });
  afterEach(() => server.close());

  async function signOutAndRevoke(): Promise<void> {
    const { database } = server;
    await database.write((transaction) =>
      removePushDevicesOf(
        { database, clock: () => server.now, publish: async () => undefined },
        transaction,
        ada,
      ),
    );
    expect(await server.ask(bob, 'mobile_push/revoke', revocation)).toEqual({});
    await server.settle();
  }

  const waiting = async () =>
    (await server.database.jobs.list({ state: 'waiting' })).map(({ kind }) => kind).sort();

  it('the relay metric has a value only while there is a relay, and after a request to the relay', async () => {
    const isUp = async (of: PushServer) => /^waxwing_relay_up (\d)$/m.exec(await of.metrics.text())?.[1];
    const idle = await PushServer.start(backend);
    expect([await isUp(idle), await isUp(server)]).toEqual([undefined, '1']);
    await idle.close();
    // The relay is removed while a request to it is in flight.
    server.relay.around = async () => {
      await server.push.useRelay({ kind: 'not-configured' });
      return { status: 503 };
    };
    await server.notify(ada);
    expect(await isUp(server)).toBeUndefined();
  });

  it('pending removals are retried as soon as another request to the relay succeeds', async () => {
    const isUp = async () => /^waxwing_relay_up (\d)$/m.exec(await server.metrics.text())?.[1];
    expect(await isUp()).toBe('1');
    server.relay.isDown = true;
    await signOutAndRevoke();
    await server.pass(hour);
    expect(await isUp()).toBe('0');
    server.relay.isDown = false;
    const tried = asked.length;
    expect(await waiting()).toEqual([removalKind, revocationKind]);
    // A successful request ends the backoff of both jobs early.
    await server.activeAccount(bob, '6');
    await expect
      .poll(async () => {
        await server.settle();
        return waiting();
      })
      .toEqual([]);
    expect(asked.slice(tried).sort()).toEqual([relayRemovePath, relayRevokePath]);
    expect(await isUp()).toBe('1');
  });

  it('a removal that waits for a phone to re-register keeps its schedule', async () => {
    const id = await server.activeDevice(bob, 'token');
    server.relay.tokens.clear();
    await server.notify(bob);
    expect(await server.push.clientDevicesOf(bob)).toMatchObject({ [id]: { push_token_id: null } });
    server.relay.isDown = true;
    await server.activeAccount(bob, '6');
    await server.pass(minute);
    server.relay.isDown = false;
    await server.pass(8 * minute);
    expect(server.log.text()).toContain('the relay answers again');
    expect(await waiting()).toEqual(['client-devices/remove-tokens']);
    expect(server.relay.removed).toEqual([]);
    await server.pass(minute);
    expect(server.relay.removed).toHaveLength(1);
  });

  describe('a relay that is known to be a Waxwing relay', () => {
    it.each<[number, unknown]>([
      [404, 'Not Found'],
      [404, { error: 'not found' }],
      [405, ''],
      [400, '<html>Bad Request</html>'],
      [400, { result: 'error', msg: 'no', code: 'INVALID_ZULIP_SERVER' }],
    ])('gets a retry after %i %j, as from another service or for a wrong key', async (status, body) => {
      await server.notify(ada);
      reaction = { status, body };
      await signOutAndRevoke();
      expect(await waiting()).toEqual([removalKind, revocationKind]);
      reaction = undefined;
      await server.pass(hour);
      expect(await waiting()).toEqual([]);
      expect(asked).toHaveLength(4);
    });

    it.each([
      [404, 'NOT_FOUND'],
      [405, 'METHOD_NOT_ALLOWED'],
      [400, 'BAD_REQUEST'],
    ])('gets no retry after %i %s in the protocol’s format', async (status, code) => {
      await server.notify(ada);
      reaction = refused(status, code);
      await signOutAndRevoke();
      expect(await waiting()).toEqual([]);
      expect(asked).toHaveLength(2);
    });
  });

  it('a relay of unknown kind is probed once, whatever the format of its 404', async () => {
    reaction = { status: 404, body: 'Not Found' };
    await signOutAndRevoke();
    expect(await waiting()).toEqual([]);
    expect(asked).toHaveLength(2);
  });
});
