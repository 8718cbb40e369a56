import { runServerCommand } from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-ports.js';
import { notified, type RelayReaction, refused } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';
import { relayServerId, relayServerKey, ServerUnderTest, testPhone } from './server-under-test.js';

const notifyPath = '/api/v1/remotes/push/e2ee/notify';
const noKeyList = refused(404, 'NOT_FOUND');

eachBackend((backend) => {
  let test: ServerUnderTest;
  beforeAll(async () => {
    test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
  });
  afterAll(() => test.close());

  /** Runs the command while the server runs. */
  async function push(command: string, settings: Record<string, string> = {}) {
    const [printed, said]: [string[], string[]] = [[], []];
    const status = await runServerCommand(['push', command, '--json'], {
      environment: {
        SERVER_DATABASE: test.databaseUrl,
        SERVER_RELAY_URL: test.relay.url,
        SERVER_RELAY_SERVER_ID: relayServerId,
        SERVER_RELAY_SERVER_KEY_FILE: `${test.folder}/server-key`,
        ...settings,
      },
      clock: () => test.now,
      print: (text) => void printed.push(text),
      say: (text) => void said.push(text),
      ask: async () => undefined,
      readSecret: async () => new Secret(''),
    });
    const text = printed.join('');
    return { status, said: said.join('\n'), answer: text === '' ? undefined : JSON.parse(text) };
  }

  /** Sets the relay's response to the authenticated request, with a clock that is off by this much. */
  function relayAnswers(reaction: RelayReaction, offMilliseconds = 0, keyList: RelayReaction = noKeyList) {
    const date = new Date(test.now + offMilliseconds).toUTCString();
    test.relay.otherwise(({ path }) => {
      const chosen = path === notifyPath ? reaction : keyList;
      return typeof chosen === 'string' ? chosen : { ...chosen, headers: { date } };
    });
  }

  describe('push check', () => {
    it('sends the relay an empty notification with the server’s key, and reports success', async () => {
      relayAnswers(notified());
      const { status, answer } = await push('check');
      const names = ['address', 'key', 'realm', 'clock', 'key-list'];
      expect([status, answer.ok]).toEqual([0, true]);
      expect(answer.checks.map(({ name }: { name: string }) => name)).toEqual(names);
      const [request] = test.relay.requests;
      expect(request?.headers['cache-control']).toBe('no-cache');
      expect(request?.headers.authorization).toBe(`Basic ${btoa(`${relayServerId}:${relayServerKey}`)}`);
      expect(JSON.parse(request?.body ?? '')).toEqual({
        realm_uuid: test.server.realmUuid,
        push_requests: [],
      });
    });

    it.each([
      [
        'a page of another website',
        { status: 404, body: '<h1>Not Found</h1>' },
        'address',
        'SERVER_RELAY_URL',
      ],
      ['a 404 that reads like a relay’s', noKeyList, 'address', 'SERVER_RELAY_URL'],
      [
        'a success that is not from a relay',
        { status: 200, body: { result: 'success' } },
        'address',
        'not as a relay',
      ],
      ['a redirection', { status: 302 }, 'address', 'not as a relay'],
      ['a cut connection', 'cut', 'address', 'cannot be reached'],
      ['a refusal of the key', refused(401, 'UNAUTHORIZED'), 'key', 'rotate-key'],
      [
        'a refusal with its words',
        refused(401, 'UNAUTHORIZED', 'no such role'),
        'key',
        'It says: no such role.',
      ],
      ['a refused plan', refused(400, 'PUSH_NOTIFICATIONS_DISALLOWED', 'No plan'), 'key', '400: No plan'],
      [
        'a deactivated server',
        refused(
          401,
          'UNAUTHORIZED',
          'The mobile push notification service registration for your server has been deactivated',
        ),
        'server',
        `servers resume ${relayServerId}`,
      ],
      ['a busy relay', refused(503, 'RATE_LIMIT_HIT'), 'key', 'try again later'],
      ['an unknown realm', refused(403, 'MISSING_REMOTE_REALM'), 'realm', 'servers add-realm'],
      ['a realm of another server', refused(403, 'REMOTE_REALM_SERVER_MISMATCH_ERROR'), 'realm', 'add-realm'],
    ] as const)('fails at %s, and explains what to do', async (_, reaction, name, remedy) => {
      relayAnswers(reaction);
      const { status, said, answer } = await push('check');
      expect(answer).toMatchObject({ ok: false });
      expect(answer.checks.at(-1)).toEqual({ name, ok: false, sentence: expect.stringContaining(remedy) });
      expect([status, said]).toEqual([1, expect.stringContaining(`see ${name}`)]);
    });

    it.each([
      [3_600_000, 'behind'],
      [-3_600_000, 'ahead of'],
    ])('fails if the relay’s clock is %i ms off', async (offMilliseconds, which) => {
      relayAnswers(notified(), offMilliseconds);
      const { status, answer } = await push('check');
      const clock = answer.checks.find(({ name }: { name: string }) => name === 'clock');
      expect([status, clock.ok, clock.sentence]).toEqual([
        1,
        false,
        expect.stringContaining(`3600 s ${which}`),
      ]);
    });

    it('fails if the key list is invalid', async () => {
      relayAnswers(notified(), 0, { status: 200, body: { result: 'success' } });
      const { status, answer } = await push('check');
      expect([status, answer.checks.at(-1)]).toMatchObject([1, { name: 'key-list', ok: false }]);
    });

    it('succeeds at a stock relay, which answers in the newer generation only and has no key list', async () => {
      const { delete_device_ids: _, ...older } = (notified() as { body: Record<string, unknown> }).body;
      const body = { ...older, delete_token_ids: [] };
      relayAnswers({ status: 200, body }, 0, { status: 404, body: '<h1>Not Found</h1>' });
      const { status, answer } = await push('check');
      const sentence = expect.stringContaining('phones use the key in the app');
      expect([status, answer.checks.at(-1)]).toEqual([0, { name: 'key-list', ok: true, sentence }]);
    });

    it('fails if nothing listens on the address', async () => {
      const { status, answer } = await push('check', {
        SERVER_RELAY_URL: `http://127.0.0.1:${await freePort()}`,
      });
      expect([status, answer.checks]).toEqual([
        1,
        [{ name: 'address', ok: false, sentence: expect.stringContaining('ECONNREFUSED') }],
      ]);
    });

    it('fails where the relay speaks no TLS, and says what to change', async () => {
      const url = test.relay.url.replace('http:', 'https:');
      const { status, answer } = await push('check', { SERVER_RELAY_URL: url });
      expect([status, answer.checks[0].sentence]).toEqual([
        1,
        expect.stringMatching(
          /does not speak TLS \(ERR_SSL_.*\): write http:\/\/ .*SERVER_RELAY_URL names it\.$/,
        ),
      ]);
    });
  });

  describe('push status', () => {
    it('does not count a 404 as an answer of the relay', async () => {
      const ada = await test.addAccount('ada@example.com');
      test.relay.otherwise(noKeyList);
      await test.register(ada, testPhone('1').fields);
      await test.settle();
      const { status, answer } = await push('status');
      expect([status, answer]).toMatchObject([
        1,
        { state: 'failing', last_error: expect.stringContaining('address') },
      ]);
    });
  });
});
