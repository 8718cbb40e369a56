import { parseNotification, type UserId } from '@waxwing/protocol';
import { runServerCommand } from '@waxwing/server';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSealed } from '../../support/noble-oracle.js';
import { notified, registered } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';
import {
  type Account,
  relayServerId,
  ServerUnderTest,
  type TestPhone,
  testPhone,
} from './server-under-test.js';

const unregistered = 'No phone of bob@example.com is registered';

eachBackend((backend) => {
  describe('push send', () => {
    let server: ServerUnderTest;
    let ada: Account;
    const phones: TestPhone[] = [testPhone('1'), testPhone('2')];

    beforeAll(async () => {
      server = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
      ada = await server.addAccount('ada@example.com', { fullName: 'Ada' });
      await server.addAccount('bob@example.com');
      await server.addAccount('bot@example.com', { isBot: true });
      for (const [index, { fields }] of phones.entries()) {
        server.relay.otherwise(registered(index + 1));
        await server.register(ada, fields);
        await server.settle();
      }
      server.relay.otherwise(notified());
    });
    afterAll(() => server.close());

    /** Runs the command while the server is running. */
    const send = (flags: readonly string[], options = {}) => push(['send', ...flags], options);

    async function push(command: readonly string[], { withRelay = true } = {}) {
      const [printed, said]: [string[], string[]] = [[], []];
      const relay: Record<string, string> = {
        SERVER_RELAY_URL: server.relay.url,
        SERVER_RELAY_SERVER_ID: relayServerId,
        SERVER_RELAY_SERVER_KEY_FILE: `${server.folder}/server-key`,
      };
      const terminal: Terminal = {
        environment: {
          SERVER_DATABASE: server.databaseUrl,
          SERVER_REALM_URL: 'https://chat.example.com',
          SERVER_REALM_NAME: 'Example',
          ...(withRelay ? relay : {}),
        },
        clock: () => server.now,
        print: (text) => void printed.push(text),
        say: (text) => void said.push(text),
        ask: async () => undefined,
        readSecret: async () => new Secret(''),
      };
      const code = await runServerCommand(['push', ...command], terminal);
      return { code, printed: printed.join('\n'), said: said.join('\n') };
    }

    const messagesOf = async (account: Account): Promise<Record<string, unknown>[]> => {
      const window = { anchor: 'newest', num_before: '10', num_after: '0', apply_markdown: 'false' };
      const { body } = await server.ask(account, 'GET', 'messages', window);
      return body.messages as Record<string, unknown>[];
    };
    const sentToRelay = () =>
      server.relay.requests
        .filter(({ path }) => path.endsWith('/notify'))
        .flatMap(({ body }) => JSON.parse(body).push_requests as { payload: { encrypted_data: string } }[]);

    it('sends the text to all phones of the user, encrypted and padded for each, and reports the number of phones', async () => {
      const { code, printed, said } = await send([
        '--user',
        'Ada@Example.com',
        '--text',
        'Lunch is **ready**, Zoë',
      ]);
      expect([code, said]).toEqual([0, '']);
      expect(printed).toContain('To 2 devices of ada@example.com: 2 sent.\n');
      const sealed = sentToRelay().map(({ payload }) => Buffer.from(payload.encrypted_data, 'base64'));
      expect(sealed).toHaveLength(2);
      const [message] = await messagesOf(ada);
      expect(message).toMatchObject({
        content: 'Lunch is **ready**, Zoë',
        sender_full_name: 'Notification Bot',
      });
      for (const [index, { publicKey, privateKey }] of phones.entries()) {
        const plaintext = openSealed(sealed[index] as Buffer, publicKey, privateKey) ?? new Uint8Array();
        expect([512, 1024, 1536, 2048]).toContain(plaintext.length);
        expect(parseNotification(plaintext)).toMatchObject({
          type: 'message',
          message_id: message?.id,
          content: 'Lunch is ready, Zoë',
          sender_full_name: 'Notification Bot',
          user_id: ada.userId satisfies UserId,
        });
      }
      expect(server.relay.requests.some(({ body }) => body.includes('Lunch'))).toBe(false);
    });

    it('prints the message ID and the number of devices as JSON', async () => {
      const { printed } = await send(['--user', 'ada@example.com', '--text', 'again', '--json']);
      const [message] = (await messagesOf(ada)).slice(-1);
      expect(JSON.parse(printed)).toEqual({
        user_id: ada.userId,
        email: 'ada@example.com',
        message_id: message?.id,
        devices: 2,
        results: [{ status: 'sent', reason: null, fault: null, app: null, devices: 2 }],
      });
    });

    describe('when the relay does not notify all phones', () => {
      const app = 'org.example.app';
      const notServed = { status: 'rejected', reason: 'APP_NOT_SERVED', fault: 'relay-configuration', app };

      /**
       * Scripts the relay's responses: `of` maps device ids to results, and `receipts` are returned in order. The last
       * receipt is repeated.
       */
      const answers = (of: Readonly<Record<number, object>>, receipts: readonly object[] = []) => {
        const left = [...receipts];
        server.relay.otherwise(({ path, body }) => {
          if (path.includes('/receipts?')) {
            const receipt = left.length > 1 ? left.shift() : left[0];
            return { status: 200, body: { result: 'success', msg: '', receipts: [receipt] } };
          }
          const { push_requests: asked } = JSON.parse(body) as { push_requests: { device_id: number }[] };
          const success = notified() as { body: object };
          const results = asked.map(({ device_id: id }) => of[id] ?? { status: 'sent' });
          return { status: 200, body: { ...success.body, results } };
        });
      };
      afterEach(() => server.relay.otherwise(notified()));

      it('reports how many notifications were sent and rejected, and why, also in the log, the metrics and the status', async () => {
        answers({ 2: notServed });
        const first = await send(['--user', 'ada@example.com', '--text', 'one']);
        const why = `the relay has no credentials for app ${app}`;
        expect([first.code, first.printed]).toEqual([
          1,
          expect.stringContaining(`To 2 devices of ada@example.com: 1 sent, 1 rejected: ${why}.`),
        ]);
        expect(first.said).toBe(
          'waxwing-server: Not every phone of ada@example.com was notified; waxwing-server push status names causes and remedies.',
        );
        await send(['--user', 'ada@example.com', '--text', 'two']);
        const logged = server.logged.lines().filter(({ msg }) => msg === 'a notification was rejected');
        expect(logged).toMatchObject([
          { level: 'error', app, reason: 'APP_NOT_SERVED', fault: 'relay-configuration' },
        ]);
        const metric = 'waxwing_notification_results_total';
        expect(await server.server.metrics.text()).toContain(
          `${metric}{status="rejected",fault="relay-configuration",reason="APP_NOT_SERVED"} 2`,
        );
        const status = await push(['status']);
        const sentence = `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
        const cause = `At ${new Date(server.now).toISOString()}: ${sentence}`;
        expect(status.printed).toContain(`FAILED  last rejection: ${cause}`);
        const { printed } = await push(['status', '--json']);
        expect(JSON.parse(printed)).toContainEqual(
          expect.objectContaining({ check: 'last rejection', ok: false, cause }),
        );
      });

      it('fails if no phone was notified, and names the result of each', async () => {
        answers({ 1: { status: 'rejected', reason: 'BadTopic', fault: 'registration' }, 2: notServed });
        const { code, said } = await send(['--user', 'ada@example.com', '--text', 'none']);
        expect([code, said]).toEqual([
          1,
          `waxwing-server: No phone of ada@example.com was notified: 1 rejected: BadTopic (the phone must register again), 1 rejected: the relay has no credentials for app ${app}.`,
        ]);
      });

      it('names the phones that the relay retries', async () => {
        const id = { notification_id: server.server.realmUuid };
        answers({ 1: { status: 'queued', reason: 'UNAVAILABLE', ...id } });
        const { code, printed } = await send([
          '--user',
          'ada@example.com',
          '--text',
          'later',
          '--wait',
          '3',
          '--json',
        ]);
        expect([code, JSON.parse(printed).results]).toMatchObject([
          0,
          [
            { status: 'queued', reason: 'UNAVAILABLE', devices: 1 },
            { status: 'sent', devices: 1 },
          ],
        ]);
        answers({
          1: { status: 'queued', reason: 'InvalidProviderToken', fault: 'relay-configuration', ...id },
        });
        const held = await send(['--user', 'ada@example.com', '--text', 'held', '--wait', '3']);
        const why =
          "Google, Apple or the push service refuses the relay's credentials: InvalidProviderToken (ask the relay's operator)";
        expect(held.printed).toContain(`1 sent, 1 waiting at the relay: ${why}.`);
        expect(server.logged.text()).toContain('a notification is queued at the relay');
        expect((await push(['status'])).printed).toContain(why);
      });

      it.each([
        ['sent', [], ['--wait', '9'], 0, '2 sent.'],
        [
          'rejected',
          ['BadTopic', 'registration'],
          [],
          1,
          '1 sent, 1 rejected: BadTopic (the phone must register again).',
        ],
        ['sent', [], ['--wait', '0'], 1, '1 sent, 1 waiting at the relay: UNAVAILABLE.'],
      ] as const)('push test waits for a queued notification: %s %s %s', async (...expected) => {
        const [status, [reason, fault], flags, code, printed] = expected;
        const id = { notification_id: server.server.realmUuid };
        const receipt = { ...id, device_id: 1, attempts: 1, updated_at: 1 };
        const receipts = [
          { ...receipt, status: 'queued' },
          { ...receipt, status, reason, fault },
        ];
        answers({ 1: { status: 'queued', reason: 'UNAVAILABLE', ...id } }, receipts);
        const tested = await push(['test', '--user', 'ada@example.com', ...flags]);
        expect([tested.code, tested.printed]).toEqual([code, printed]);
      });

      it('reports why the relay accepted no notification in time, and that the server retries', async () => {
        server.relay.otherwise({ status: 503 });
        const { code, printed } = await send(['--user', 'ada@example.com', '--text', 'down', '--wait', '1']);
        expect([code, printed]).toEqual([
          1,
          expect.stringContaining(
            'On its way to 2 devices of ada@example.com. The relay did not accept all notifications: the relay answered 503; the server retries automatically.',
          ),
        ]);
        expect(await send(['--user', 'a@example.com', '--text', 'x', '--wait', 'long'])).toMatchObject({
          code: 2,
        });
      });
    });

    it.each([
      ['an unknown user', 'eve@example.com', 'hi', 'There is no user with the address eve@example.com'],
      ['a bot', 'bot@example.com', 'hi', 'bot@example.com is a bot: bots have no phones.'],
      ['a user without a phone', 'bob@example.com', 'hi', `${unregistered}, so nothing was sent`],
      ['a user with a blank text', 'ada@example.com', ' ', 'Message must not be empty.'],
    ])('explains in one sentence why nothing is sent to %s', async (_, user, text, sentence) => {
      const before = await messagesOf(ada);
      const { code, printed, said } = await send(['--user', user, '--text', text]);
      expect([code, printed]).toEqual([1, '']);
      expect(said).toContain(sentence);
      expect(said.split('\n')).toHaveLength(1);
      expect(await messagesOf(ada)).toEqual(before);
    });

    it('fails if no running server could send', async () => {
      server.relay.otherwise(notified());
      await server.server.database.jobs.stop(0);
      const { code, printed, said } = await send(['--user', 'ada@example.com', '--text', 'x', '--wait', '1']);
      expect([code, printed]).toEqual([1, expect.stringContaining('On its way to 2 devices')]);
      expect(said).toContain(
        'It is unknown whether every phone of ada@example.com was notified; waxwing-server push status names causes and remedies.',
      );
      await server.server.database.jobs.start();
    });

    it('reports a pending phone, a missing relay, and notifications that the user turned off', async () => {
      const carl = await server.addAccount('carl@example.com');
      server.relay.next({ status: 503 });
      await server.register(carl, testPhone('3').fields);
      await server.settle();
      const waiting = await send(['--user', 'carl@example.com', '--text', 'hi']);
      expect([waiting.code, waiting.said]).toEqual([
        1,
        expect.stringContaining('Registrations waiting for the relay: 1.'),
      ]);
      const without = await send(['--user', 'ada@example.com', '--text', 'hi'], { withRelay: false });
      expect([without.code, without.said]).toEqual([1, expect.stringContaining('No relay is configured')]);
      const off = { enable_offline_push_notifications: 'false' };
      expect((await server.ask(ada, 'PATCH', 'settings', off)).status).toBe(200);
      const before = await messagesOf(ada);
      const unwanted = await send(['--user', 'ada@example.com', '--text', 'hi']);
      expect([unwanted.code, unwanted.said]).toEqual([
        1,
        expect.stringContaining('turned off notifications'),
      ]);
      expect(await messagesOf(ada)).toEqual(before);
    });

    it('reports missing options', async () => {
      expect(await send(['--user', 'ada@example.com'])).toMatchObject({ code: 2, printed: '' });
    });
  });
});
