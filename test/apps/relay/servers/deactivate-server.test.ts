import { afterAll, beforeAll, expect, it } from 'vitest';
import { resumeServer, suspendServer } from '#relay/servers/manage-servers.js';
import { eachBackend } from '../../../support/test-databases.js';
import { goodForm, type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.js';

// The message specified in the section "remotes/server/deactivate" in docs/protocol.md.
const deactivated = 'The mobile push notification service registration for your server has been deactivated';

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeAll(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterAll(() => relay.close());

  async function deactivate(headers: Record<string, string> = { 'content-type': 'application/json' }) {
    const answer = await relay.app.inject({
      method: 'POST',
      url: '/api/v1/remotes/server/deactivate',
      headers: { authorization: relay.authorization, ...headers },
      payload: '{}',
    });
    return { status: answer.statusCode, body: answer.json() };
  }

  it('a server that deactivated itself is refused until the operator resumes it', async () => {
    expect((await relay.register(goodForm())).status).toBe(200);
    const devices = await relay.devices();
    expect(await deactivate()).toEqual({ status: 200, body: { result: 'success', msg: '' } });
    for (const { status, body } of [await relay.register(goodForm()), await deactivate()]) {
      expect([status, body.code, body.msg]).toEqual([401, 'UNAUTHORIZED', deactivated]);
    }
    expect(await relay.devices()).toEqual(devices);
    const { serverId } = relay.server;
    expect(await resumeServer(relay.database, serverId)).toBe(true);
    expect((await relay.register(goodForm())).status).toBe(200);
  });

  it('a suspended server cannot deactivate itself, and gets a different error', async () => {
    const { serverId } = relay.server;
    await suspendServer(relay.database, serverId, relay.time.now);
    relay.time.now += 2000;
    const { status, body } = await deactivate();
    expect([status, body.msg]).toEqual([401, expect.stringContaining('has suspended your server')]);
    expect(await resumeServer(relay.database, serverId)).toBe(true);
    expect((await deactivate()).status).toBe(200);
  });

  it('a form is refused, because stock servers send JSON', async () => {
    await resumeServer(relay.database, relay.server.serverId);
    expect(await deactivate({ 'content-type': 'application/x-www-form-urlencoded' })).toMatchObject({
      status: 415,
    });
  });
});
