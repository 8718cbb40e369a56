import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resumeServer, suspendServer } from '#relay/servers/manage-servers.js';
import { eachBackend } from '../../../support/test-databases.js';
import { answering, type Hosts, hostName, startHosts } from './host-under-test.js';
import { type JoiningUnderTest, newServer, startJoiningUnderTest } from './joining-under-test.js';

// Checks the section "remotes/server/register/transfer" in docs/protocol.md.

const privateHosts = { RELAY_SERVER_REGISTRATION_PRIVATE_HOSTS: 'on' };
const access_token = 'Zx9_-'.padEnd(43, 'a');

eachBackend((backend) => {
  let hosts: Hosts;
  let relay: JoiningUnderTest;
  let form: Record<string, string>;
  beforeAll(async () => {
    hosts = await startHosts();
    relay = await startJoiningUnderTest(await backend.freshUrl(), privateHosts, {
      authority: hosts.authority,
      deadlineMilliseconds: 5000,
      lookUp: async (name) => [{ address: name === hostName ? '127.0.0.1' : '127.0.0.3', family: 4 }],
    });
    form = newServer({ hostname: hosts.hostname, invitation: await relay.invite() });
    await relay.join(form);
  });
  beforeEach(() => {
    relay.time.now += 60_000;
    hosts.requests.first.length = 0;
  });
  afterAll(async () => {
    await relay.close();
    await hosts.close();
  });

  async function challenge(hostname = hosts.hostname): Promise<string> {
    const { status, body } = await relay.post('register/transfer', { hostname });
    expect(status).toBe(200);
    return body.verification_secret as string;
  }
  /** Makes the host publish `secret`, and requests a new key for its server. */
  function verify(secret: unknown, hostname = hosts.hostname) {
    hosts.state.answer = answering(200, { result: 'success', msg: '', verification_secret: secret });
    return relay.post('register/verify_challenge', { hostname, access_token });
  }

  it('a transfer gives the server on the host a new key, and the previous key ends immediately', async () => {
    const before = await relay.statusOf(form);
    const secret = await challenge();
    expect(secret).toMatch(/^[0-9A-F]{64}$/);
    const { status, body } = await verify(secret);
    expect([before, status, body]).toEqual([
      200,
      200,
      { result: 'success', msg: '', zulip_org_id: form.zulip_org_id, zulip_org_key: expect.any(String) },
    ]);
    expect(hosts.requests.first).toEqual([`GET /api/v1/zulip-services/verify/${access_token}/`]);
    expect(await relay.statusOf(form)).toBe(401);
    form = { ...form, zulip_org_key: body.zulip_org_key as string };
    expect(await relay.statusOf(form)).toBe(200);
    // Next, a stock server registers with its new key.
    expect((await relay.join(form)).body).toMatchObject({ created: false });
    expect(relay.logged()).not.toContain(secret);
    expect(relay.logged()).not.toContain(body.zulip_org_key);
  });

  describe('a transfer', () => {
    it('is refused for a challenge that was used before', async () => {
      const secret = await challenge();
      const { body } = await verify(secret);
      form = { ...form, zulip_org_key: body.zulip_org_key as string };
      const replayed = await verify(secret);
      expect(replayed).toMatchObject({
        status: 400,
        body: { msg: 'The verification secret is invalid, or was used before.' },
      });
      expect(await relay.statusOf(form)).toBe(200);
    });

    it('is refused for the second of two concurrent uses of a challenge', async () => {
      const secret = await challenge();
      const answers = await Promise.all([verify(secret), verify(secret)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const admitted = answers.find(({ status }) => status === 200);
      form = { ...form, zulip_org_key: admitted?.body.zulip_org_key as string };
    });

    it('is refused for a challenge that is ten seconds old', async () => {
      const secret = await challenge();
      relay.time.now += 10_000;
      expect((await verify(secret)).body.msg).toBe('The verification secret has expired.');
    });

    it('is refused for a challenge of another host', async () => {
      const hostname = 'attacker.example.org';
      const attacker = newServer({ hostname, invitation: await relay.invite() });
      await relay.join(attacker);
      const secret = await challenge(hostname);
      expect((await verify(secret)).body.msg).toBe('The verification secret is for a different hostname.');
      expect(await relay.statusOf(form)).toBe(200);
    });

    it('is refused for a host that is not registered', async () => {
      const hostname = 'Unknown.example.org';
      const started = await relay.post('register/transfer', { hostname });
      expect(started.body).toMatchObject({ code: 'BAD_REQUEST', msg: `${hostname} not yet registered` });
      const { status, body } = await verify('x', hostname);
      expect([status, body.msg]).toEqual([400, 'Registration not found for this hostname']);
      expect(hosts.requests.first).toEqual([]);
    });

    it('is refused for a suspended server', async () => {
      const secret = await challenge();
      await suspendServer(relay.database, form.zulip_org_id ?? '', relay.time.now);
      for (const answer of [
        await verify(secret),
        await relay.post('register/transfer', { hostname: hosts.hostname }),
      ]) {
        expect(answer).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
      }
      expect(hosts.requests.first).toEqual([]);
      await resumeServer(relay.database, form.zulip_org_id ?? '');
    });

    it.each([
      ['../../admin', 'Invalid access_token'],
      ['a'.repeat(129), 'Invalid access_token'],
    ])('is refused for the access token %s', async (token, sentence) => {
      const parameters = { hostname: hosts.hostname, access_token: token };
      const { status, body } = await relay.post('register/verify_challenge', parameters);
      expect([status, body.msg]).toEqual([400, expect.stringContaining(sentence)]);
      expect(hosts.requests.first).toEqual([]);
    });

    it.each([
      [
        answering(400, { code: 'REMOTE_SERVER_VERIFICATION_SECRET_NOT_PREPARED' }),
        'The host reported it has no verification secret.',
      ],
      [answering(404, {}), 'Error response received from the host: 404'],
      [answering(302, {}), 'Error response received from the host: 302'],
      [answering(200, []), "The host's answer is not a JSON object"],
      [answering(200, { verification_secret: 1 }), "The host's answer is not a JSON object"],
      [answering(200, { verification_secret: 'x'.repeat(5000) }), 'in at most 4096 bytes'],
      [((_request, response) => response.end('<html>')) as Hosts['state']['answer'], 'not a JSON object'],
    ])('is refused for an invalid response from the host', async (answer, sentence) => {
      hosts.state.answer = answer;
      const parameters = { hostname: hosts.hostname, access_token };
      const { status, body } = await relay.post('register/verify_challenge', parameters);
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', expect.stringContaining(sentence)]);
    });

    it('is refused for a host with a private address, unless the operator allows private addresses', async () => {
      const strict = await startJoiningUnderTest(await backend.freshUrl());
      try {
        const hostname = `127.0.0.1:${hosts.port}`;
        await strict.join(newServer({ hostname, invitation: await strict.invite() }));
        const { body } = await strict.post('register/verify_challenge', { hostname, access_token });
        expect(body.msg).toBe(`${hostname} has no public address.`);
        expect(hosts.requests.first).toEqual([]);
      } finally {
        await strict.close();
      }
    });
  });

  it('transfer requests are rate-limited per address, and counted in a metric', async () => {
    const parameters = { hostname: hosts.hostname };
    const statuses = new Set<number>();
    for (let request = 0; request < 60; request += 1) {
      statuses.add((await relay.post('register/transfer', parameters, '192.0.2.1')).status);
      statuses.add((await relay.post('register/verify_challenge', parameters, '192.0.2.1')).status);
    }
    expect(statuses).toEqual(new Set([200, 400, 503]));
    const verification = { ...parameters, access_token };
    const last = await relay.post('register/verify_challenge', verification, '192.0.2.1');
    expect(last).toMatchObject({ status: 503, body: { code: 'RATE_LIMIT_HIT' } });
    const text = await relay.context.metrics.text();
    expect(text).toMatch(/waxwing_server_registrations_total\{outcome="challenged"\} \d+/);
    const rows = await relay.database.db.selectFrom('server_challenges').selectAll().execute();
    expect(rows.length).toBeLessThanOrEqual(60);
    relay.time.now += 60_000;
    await challenge();
    expect(await relay.database.db.selectFrom('server_challenges').selectAll().execute()).toHaveLength(1);
  });
});
