import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type PushClient,
} from '@waxwing/client';
import { type JsonObject, parsePushAccountId, parsePushKeyId } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userId as user } from '../../support/ids.js';
import { keyOf, PushServer } from '../../support/push-server.js';
import { eachBackend } from '../../support/test-databases.js';

const ada = user(7);
const keyId = 11;
const jobKind = 'notifications/deliver-notification';

/** Creates the phone whose key the server has. */
async function startPhone(): Promise<PushClient> {
  const accounts = createMemoryPushAccountStore();
  const key = { pushKeyId: parsePushKeyId(keyId) as never, key: keyOf(keyId), createdAt: 1 };
  await accounts.put({
    pushAccountId: parsePushAccountId('5') as never,
    realmUrl: 'https://chat.example.com',
    userId: ada,
    keyPair: { publicKey: new Uint8Array(32), privateKey: new Uint8Array(32) },
    device: { pushKeys: [key] },
  });
  return createPushClient({
    bouncerPublicKey: Buffer.alloc(32, 9).toString('base64'),
    pushToken: () => undefined,
    accounts,
    seen: createMemorySeenNotifications(),
  });
}

eachBackend((backend) => {
  let server: PushServer;
  let phone: PushClient;
  beforeEach(async () => {
    server = await PushServer.start(backend);
    await server.activeDevice(ada, 'token', keyId);
    phone = await startPhone();
  });
  afterEach(() => server.close());

  /** Returns the notifications sent to the relay, as the phone gets them. */
  const arrived = () =>
    server.relay.stand.requests
      .filter(({ path }) => path.endsWith('/notify'))
      .flatMap(({ body }) =>
        (JSON.parse(body) as { push_requests: { payload: Record<string, unknown> }[] }).push_requests.map(
          ({ payload }) => payload,
        ),
      );
  const payload = {
    title: 'Überweisung',
    amount: [12.5, 'EUR', null],
    account: 2n ** 62n,
    text: '\0\ud83d\ude00',
  };
  /** Returns a payload whose JSON has this many bytes in total. */
  const ofSize = (bytes: number): JsonObject => {
    const around = { type: 'payload', id: 'a', time: 1_773_000_000, payload: { text: '' } };
    const realm = { realm_url: 'https://chat.example.com', realm_name: '', user_id: ada };
    return { text: 'x'.repeat(bytes - JSON.stringify({ ...around, ...realm }).length) };
  };

  describe('a payload', () => {
    it('arrives on the phone unchanged, and only once', async () => {
      await server.notify(ada, { type: 'payload', id: 'order-1', time: 1_773_000_000, payload });
      const [push = {}] = arrived();
      const opened = await phone.open(push);
      expect(opened).toMatchObject({
        kind: 'notification',
        notification: { type: 'payload', id: 'order-1', time: 1_773_000_000, payload },
      });
      // An app can serialize the result as JSON, although it contains a bigint.
      expect(JSON.parse(JSON.stringify(opened))).toMatchObject({
        notification: { payload: { ...payload, account: '4611686018427387904' } },
      });
      // A notification with the same id is a repeat, even if its payload is different.
      await server.notify(ada, { type: 'payload', id: 'order-1', time: 1_773_000_000, payload: {} });
      expect(await phone.open(arrived()[1] ?? {})).toMatchObject({ reason: 'repeat' });
      await server.notify(ada, { type: 'payload', id: 'order-2', time: 1_773_000_000, payload });
      expect(await phone.open(arrived()[2] ?? {})).toMatchObject({ kind: 'notification' });
    });

    it('has by default a unique id and the current time, which a retry keeps', async () => {
      server.relay.stand.next('cut');
      await server.notify(ada, { type: 'payload', payload });
      server.now += 30_000;
      await server.settle();
      const [first = {}, second = {}] = arrived();
      const opened = await phone.open(first);
      expect(opened).toMatchObject({
        notification: { time: 1_773_000_000, id: expect.stringMatching(/^[\w-]{36}$/) },
      });
      expect(await phone.open(second)).toMatchObject({ reason: 'repeat' });
      await server.notify(ada, { type: 'payload', payload });
      expect(await phone.open(arrived()[2] ?? {})).toMatchObject({ kind: 'notification' });
    });

    it('is rejected instead of truncated if it is too large', async () => {
      const content = { type: 'payload', id: 'a', time: 1_773_000_000 } as const;
      await server.notify(ada, { ...content, payload: ofSize(2800) });
      expect(await phone.open(arrived()[0] ?? {})).toMatchObject({ notification: { payload: ofSize(2800) } });
      const refused = server.push.notify([ada], { content: { ...content, payload: ofSize(2801) } });
      await expect(refused).rejects.toThrow(
        'The notification is 2801 bytes, but the maximum is 2800: send less, or send an id that the app uses to fetch the rest.',
      );
      await expect(
        server.push.send({
          userId: ada,
          content: { ...content, payload: ofSize(9000) },
          giveUpAt: server.now + 1000,
        }),
      ).rejects.toThrow(RangeError);
      expect(await server.database.jobs.list({ kind: jobKind })).toEqual([]);
    });

    it('is rejected with an invalid id, time or payload', async () => {
      for (const [message, wrong] of [
        ['payload of a notification must be a JSON object', { payload: [1] as never }],
        ['id of a notification must be', { payload, id: 'a b' }],
        ['id of a notification must be', { payload, id: 'a'.repeat(65) }],
        ['time of a notification must be', { payload, time: 1.5 }],
      ] as const) {
        const refused = server.push.notify([ada], { content: { type: 'payload', ...wrong } });
        await expect(refused).rejects.toThrow(message);
      }
    });
  });
});
