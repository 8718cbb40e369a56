import { afterEach, beforeEach, expect, it } from 'vitest';
import { resumeServer, rotateServerKey, suspendServer } from '#relay/servers/manage-servers.js';
import { eachBackend } from '../../../support/test-databases.js';
import { basic, goodForm, type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.js';

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeEach(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterEach(() => relay.close());

  const statusWith = async (authorization: string) => {
    const { status } = await relay.register(goodForm(), { authorization });
    return status;
  };

  it('a server id in upper case is accepted', async () => {
    const { serverId, serverKey } = relay.server;
    expect(await statusWith(basic(serverId.toUpperCase(), serverKey.reveal()))).toBe(200);
  });

  it('a key with one changed character, and the key of another server, are refused', async () => {
    const { serverId, serverKey } = relay.server;
    const key = serverKey.reveal();
    const changed = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    expect(await statusWith(basic(serverId, changed))).toBe(401);
    expect(await statusWith(basic(serverId, relay.otherServer.serverKey.reveal()))).toBe(401);
    expect(await statusWith(basic(serverId, key))).toBe(200);
    expect(await statusWith(basic(serverId, changed))).toBe(401);
  });

  it('a new key is accepted immediately, and the old key is refused within two seconds', async () => {
    expect(await statusWith(relay.authorization)).toBe(200);
    const { serverId } = relay.server;
    const rotated = await rotateServerKey(relay.database, { serverId, isImmediate: true }, relay.time.now);
    expect(await statusWith(basic(rotated.serverId, rotated.serverKey.reveal()))).toBe(200);
    relay.time.now += 2000;
    expect(await statusWith(relay.authorization)).toBe(401);
  });

  it('a suspended server is refused immediately if the request has Cache-Control: no-cache', async () => {
    expect(await statusWith(relay.authorization)).toBe(200);
    await suspendServer(relay.database, relay.server.serverId, relay.time.now);
    expect((await relay.register(goodForm(), { 'cache-control': 'no-cache' })).status).toBe(401);
  });

  it('a suspended server is refused within two seconds, and only a request with its key gets the reason', async () => {
    expect(await statusWith(relay.authorization)).toBe(200);
    await suspendServer(relay.database, relay.server.serverId, relay.time.now);
    relay.time.now += 2000;
    const refused = await relay.register(goodForm());
    expect(refused).toMatchObject({
      status: 401,
      body: {
        code: 'UNAUTHORIZED',
        msg: 'The operator of this push notification service has suspended your server: ask the operator for the reason',
      },
      headers: { 'www-authenticate': 'Basic realm="zulip"' },
    });
    const wrongKey = await relay.register(goodForm(), {
      authorization: basic(relay.server.serverId, 'wrong'),
    });
    expect(wrongKey.body.msg).toContain('the server id is not registered or the key does not match');
    await resumeServer(relay.database, relay.server.serverId);
    expect(await statusWith(relay.authorization)).toBe(200);
  });

  it('a cached lookup does not live longer if the clock is set back', async () => {
    expect(await statusWith(relay.authorization)).toBe(200);
    await suspendServer(relay.database, relay.server.serverId, relay.time.now);
    relay.time.now -= 3_600_000;
    expect(await statusWith(relay.authorization)).toBe(401);
  });

  it('the log contains the server’s id', async () => {
    await relay.register(goodForm());
    expect(relay.logged()).toContain(`"actor":"${relay.server.serverId}"`);
  });
});
