import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
} from '@waxwing/client';
import type { DatabaseWithJobs } from '@waxwing/jobs';
import {
  createServerPush,
  openPushDatabase,
  type ServerPush,
  type ServerPushTables,
} from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keyGroup, tokenGroup } from '../../support/push-server.js';
import { eachBackend } from '../../support/test-databases.js';
import { TokenRelay } from '../../support/token-relay.js';

const realm = { uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836', url: 'https://bank.example.com', name: 'Bank' };

interface Answer {
  readonly code?: string;
  readonly queue_id: string;
  readonly last_event_id: number;
  readonly device_id: number;
  readonly devices: object;
  readonly events: readonly ({ readonly id: number } & Record<string, unknown>)[];
}

eachBackend((backend) => {
  describe('a host without a chat API', () => {
    let relay: TokenRelay;
    let database: DatabaseWithJobs<ServerPushTables>;
    let push: ServerPush;
    let url: string;
    let users = 0;

    const mount = async (on = database) =>
      createServerPush({
        database: on,
        authenticate: async (head) => ({ userId: Number(head.basicCredentials().username) }),
        realm,
        relay: { kind: 'configured', url: relay.stand.url, serverId: 'id', serverKey: new Secret('key') },
      });
    beforeAll(async () => {
      relay = await TokenRelay.start();
      url = await backend.freshUrl();
      database = await openPushDatabase({ url });
      push = await mount();
      await database.jobs.start();
    });
    afterEach(() => {
      relay.isDown = false;
      relay.refusal = undefined;
    });
    afterAll(async () => {
      await database.jobs.stop(5000);
      await push.close();
      await database.close();
      await relay.stand.close();
    });

    const authorization = (userId: number) => `Basic ${Buffer.from(`${userId}:key`).toString('base64')}`;
    /** Sends a user's request, with a form in the body or, for a GET, in the query. */
    async function ask(
      userId: number,
      [method, path]: readonly [string, string],
      fields: Record<string, string> = {},
      options: { readonly at?: ServerPush; readonly signal?: AbortSignal } = {},
    ): Promise<Answer> {
      const form = new URLSearchParams(fields);
      const address = `${realm.url}/api/v1/${path}${method === 'GET' ? `?${form}` : ''}`;
      const body = method === 'GET' ? {} : { body: form };
      const { at = push, ...signal } = options;
      const request = new Request(address, {
        method,
        headers: { authorization: authorization(userId) },
        ...body,
        ...signal,
      });
      return (await at.handle(request)).json() as Promise<Answer>;
    }
    const poll = (
      userId: number,
      { queue_id, last_event_id }: Answer,
      options: Parameters<typeof ask>[3] = {},
    ) => ask(userId, ['GET', 'events'], { queue_id, last_event_id: String(last_event_id) }, options);
    const registerDevice = async (userId: number) => {
      const { device_id: id } = await ask(userId, ['POST', 'register_client_device']);
      return id;
    };
    const registerToken = (userId: number, deviceId: number, token: string) =>
      ask(userId, ['POST', 'mobile_push/register'], {
        device_id: String(deviceId),
        ...keyGroup(1),
        ...tokenGroup(token),
      });

    function phoneOf(userId: number) {
      return createPushClient({
        bouncerPublicKey: tokenGroup('any').bouncer_public_key,
        pushToken: () => ({ tokenKind: 'fcm', token: `token-of-user-${userId}` }),
        accounts: createMemoryPushAccountStore(),
        seen: createMemorySeenNotifications(),
        fetch: (url, init) => push.handle(new Request(url, init as RequestInit)),
      });
    }

    it('lets our client register until its registration is active', async () => {
      const userId = ++users;
      const phone = await phoneOf(userId);
      const registrar = phone.registrar({
        realmUrl: realm.url,
        userId,
        email: String(userId),
        apiKey: 'key',
      });
      expect(await registrar.sync()).toMatchObject({ code: 'active' });
      // A second sync, with nothing pending.
      expect(await registrar.sync()).toMatchObject({ code: 'active' });
      expect(Object.values(await push.clientDevicesOf(userId as never))).toHaveLength(1);
      await registrar.forget();
      expect(await push.clientDevicesOf(userId as never)).toEqual({});
    });

    it('reports to our client why a registration was refused', async () => {
      relay.refusal = 'BAD_REQUEST';
      const userId = ++users;
      const phone = await phoneOf(userId);
      const registrar = phone.registrar({
        realmUrl: realm.url,
        userId,
        email: String(userId),
        apiKey: 'key',
      });
      expect(await registrar.sync()).toMatchObject({ errorCode: 'BAD_REQUEST' });
    });

    it('returns all changes since the last response, including changes between two polls', async () => {
      const userId = ++users;
      const queue = await ask(userId, ['POST', 'register']);
      expect(queue).toMatchObject({
        user_id: userId,
        realm_url: realm.url,
        realm_uuid: realm.uuid,
        devices: {},
      });
      const deviceId = await registerDevice(userId);
      const { events } = await poll(userId, queue);
      expect(events.map(({ type, op, device_id }) => [type, op, device_id])).toEqual([
        ['device', 'add', deviceId],
        ['device', 'update', deviceId],
      ]);
      const ids = [queue.last_event_id, ...events.map(({ id }) => id)];
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      // The change completes the waiting poll, which does not complete before.
      const next = poll(userId, { ...queue, last_event_id: events.at(-1)?.id ?? 0 });
      await registerToken(userId, deviceId, 'a token');
      const [, update] = (await next).events;
      expect(update).toMatchObject({ op: 'update', push_key_id: 1 });
      expect(await ask(userId, ['DELETE', 'events'], { queue_id: queue.queue_id })).toMatchObject({
        result: 'success',
      });
    });

    it("wakes only the user's own polls, on all of the user's phones", async () => {
      const [userId, otherId] = [++users, ++users];
      const [first, second, other] = await Promise.all(
        [userId, userId, otherId].map((id) => ask(id, ['POST', 'register'])),
      );
      const gone = new AbortController();
      const unaware = poll(otherId, other as Answer, { signal: gone.signal });
      const polls = [poll(userId, first as Answer), poll(userId, second as Answer)];
      await registerDevice(userId);
      for (const { events } of await Promise.all(polls)) expect(events).toHaveLength(2);
      gone.abort();
      expect((await unaware).events).toMatchObject([{ type: 'heartbeat' }]);
    });

    if (backend.name === 'postgres')
      it('wakes a poll in another process', async () => {
        const elsewhere = await openPushDatabase({ url });
        const other = await mount(elsewhere);
        const userId = ++users;
        const queue = await ask(userId, ['POST', 'register']);
        const waiting = poll(userId, queue, { at: other });
        await registerDevice(userId);
        expect((await waiting).events).toMatchObject([{ op: 'add' }, { op: 'update' }]);
        await other.close();
        await elsewhere.close();
      });

    it('completes the oldest poll of a user who has too many polls', async () => {
      const userId = ++users;
      const queue = await ask(userId, ['POST', 'register']);
      const polls = Array.from({ length: 21 }, (_, index) =>
        poll(userId, { ...queue, queue_id: `${index}` }),
      );
      expect((await Promise.race(polls)).events).toMatchObject([{ type: 'heartbeat' }]);
      await registerDevice(userId);
      await Promise.all(polls);
    });

    it('ends all polls when it closes', async () => {
      const other = await openPushDatabase({ url: await backend.freshUrl() });
      const closing = await mount(other);
      const userId = ++users;
      const queue = await ask(userId, ['POST', 'register'], {}, { at: closing });
      const waiting = poll(userId, queue, { at: closing });
      await closing.close();
      expect((await waiting).events).toMatchObject([{ type: 'heartbeat' }]);
      await other.close();
    });

    it('refuses a client without credentials', async () => {
      const answer = await push.handle(new Request(`${realm.url}/api/v1/events?queue_id=a&last_event_id=0`));
      expect(answer.status).toBe(401);
    });
  });
});
