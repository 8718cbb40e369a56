import { runServerCommand } from '@waxwing/server';
import type { PushCheck } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notified, type RelayReaction, refused } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';
import { relayServerId, relayServerKey, ServerUnderTest, testPhone } from './server-under-test.js';

const notifyPath = '/api/v1/remotes/push/e2ee/notify';
const isLastExchange = ({ check }: PushCheck) => check === 'last exchange';
const notifiedUnless = ({ can_push }: { can_push: boolean }): RelayReaction => {
  const { body, ...answer } = notified() as Exclude<RelayReaction, string>;
  const realm_push_status = { can_push, expected_end_timestamp: null };
  return { ...answer, body: { ...Object(body), realm_push_status } };
};
const noKeyList = refused(404, 'NOT_FOUND');

eachBackend((backend) => {
  let test: ServerUnderTest;
  beforeAll(async () => {
    test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
  });
  afterAll(() => test.close());

  /** Runs the command while the server is running. */
  async function status() {
    const [printed, said]: [string[], string[]] = [[], []];
    const code = await runServerCommand(['push', 'status', '--json'], {
      environment: {
        SERVER_DATABASE: test.databaseUrl,
        SERVER_RELAY_URL: test.relay.url,
        SERVER_RELAY_SERVER_ID: relayServerId,
        SERVER_RELAY_SERVER_KEY_FILE: `${test.folder}/server-key`,
      },
      clock: () => test.now,
      print: (text) => void printed.push(text),
      say: (text) => void said.push(text),
      ask: async () => undefined,
      readSecret: async () => new Secret(''),
    });
    return { code, said: said.join('\n'), checks: JSON.parse(printed.join('')) as PushCheck[] };
  }

  /** Sets the relay's response to the authenticated request. The relay's clock is off by `offMilliseconds`. */
  function relayAnswers(reaction: RelayReaction, offMilliseconds = 0, keyList: RelayReaction = noKeyList) {
    const date = new Date(test.now + offMilliseconds).toUTCString();
    test.relay.otherwise(({ path }) => {
      const chosen = path === notifyPath ? reaction : keyList;
      return typeof chosen === 'string' ? chosen : { ...chosen, headers: { date } };
    });
  }

  describe('push status', () => {
    it('sends the relay an empty notification with the server’s key, and reports success', async () => {
      relayAnswers(notified());
      const { code, checks } = await status();
      expect([code, checks.filter(({ ok }) => !ok)]).toEqual([0, []]);
      expect(checks.map(({ check }) => check)).toEqual([
        ...['configuration', 'dns', 'connection', 'tls', 'relay', 'clock', 'credentials', 'server', 'quota'],
        ...['realm', 'permission', 'key list', 'apps', 'jobs', 'given-up jobs', 'devices', 'last exchange'],
        'last rejection',
      ]);
      expect(checks.every(({ remedy }) => remedy === null)).toBe(true);
      const [request] = test.relay.requests;
      expect(request?.headers['cache-control']).toBe('no-cache');
      expect(request?.headers.authorization).toBe(`Basic ${btoa(`${relayServerId}:${relayServerKey}`)}`);
      expect(JSON.parse(request?.body ?? '')).toEqual({
        realm_uuid: test.server.realmUuid,
        push_requests: [],
      });
    });

    it('accepts a stock relay, which has no key list and no list of apps', async () => {
      relayAnswers(notified());
      const { checks } = await status();
      expect(checks.filter(({ cause }) => cause.includes('stock'))).toHaveLength(2);
    });

    it('still checks jobs and devices if the relay does not answer', async () => {
      relayAnswers('cut');
      const { code, said, checks } = await status();
      expect([code, said]).toEqual([1, expect.stringContaining('see connection')]);
      expect(checks.map(({ check }) => check)).toEqual(
        expect.arrayContaining(['jobs', 'given-up jobs', 'devices', 'last exchange']),
      );
    });

    it.each([
      ['a success that is not from a relay', { status: 200, body: { result: 'success' } }, 'relay'],
      ['a 404 that reads like a relay’s', noKeyList, 'relay'],
      ['a busy relay', refused(503, 'SERVICE_UNAVAILABLE'), 'relay'],
      ['a plan without push', refused(400, 'PUSH_NOTIFICATIONS_DISALLOWED'), 'permission'],
      ['push that is switched off', notifiedUnless({ can_push: false }), 'permission'],
      ['a used-up quota', refused(503, 'RATE_LIMIT_HIT'), 'quota'],
    ] as const)('fails for %s', async (_, reaction, name) => {
      relayAnswers(reaction);
      const { code, checks } = await status();
      expect([code, checks.filter(({ ok }) => !ok).map(({ check }) => check)]).toEqual([1, [name]]);
    });

    it('fails if the key list is invalid', async () => {
      relayAnswers(notified(), 0, { status: 200, body: { result: 'success' } });
      const { code, checks } = await status();
      expect([code, checks.find(({ check }) => check === 'key list')]).toMatchObject([1, { ok: false }]);
    });

    it('shows the link state of the running server, and does not count a 404 as a response from the relay', async () => {
      const ada = await test.addAccount('ada@example.com');
      test.relay.otherwise(noKeyList);
      await test.register(ada, testPhone('1').fields);
      await test.settle();
      const failing = await status();
      expect(failing.checks.find(isLastExchange)).toMatchObject({
        check: 'last exchange',
        ok: false,
        cause: expect.stringMatching(/have failed since .*address/),
      });
      relayAnswers(notified());
      const after = (await status()).checks.find(isLastExchange);
      expect(after).toMatchObject({ ok: true, cause: expect.stringContaining('The relay answers now.') });
    });
  });
});
