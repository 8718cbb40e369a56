import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { featureLevel } from '#server/people/realm/feature-level.js';
import { QueueListener, type WaitEnd } from '#server/platform/event-queues/queue-listeners.js';
import { registered } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';
import { type Account, type Answer, ServerUnderTest, testPhone } from './server-under-test.js';

let test: ServerUnderTest;
let ada: Account;

async function newQueue(account = ada, fields: Record<string, string> = {}): Promise<string> {
  return String((await test.ask(account, 'POST', 'register', fields)).body.queue_id);
}

async function poll(queueId: string, lastEventId: number, dontBlock = true, account = ada): Promise<Answer> {
  const query = { queue_id: queueId, last_event_id: String(lastEventId), dont_block: String(dontBlock) };
  return test.ask(account, 'GET', 'events', query);
}

async function makeEvent(pushAccountId: string, account = ada): Promise<void> {
  await test.register(account, testPhone(pushAccountId).fields);
  await test.settle();
}

const accountIds = (answer: Answer) =>
  (answer.body.events as { push_account_id: string }[]).map((event) => event.push_account_id);

eachBackend((backend) => {
  let databaseUrl: string;
  beforeEach(async () => {
    databaseUrl = await backend.freshUrl();
    test = await ServerUnderTest.start({ databaseUrl, longPollTimeoutSeconds: 0.05 });
    test.relay.otherwise(registered(1));
    ada = await test.addAccount('ada@example.com');
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await test.close();
  });

  describe('registering an event queue', () => {
    it('returns what a client must know about the organization', async () => {
      await makeEvent('5');
      const { status, body } = await test.ask(ada, 'POST', 'register');
      expect(status).toBe(200);
      expect(body).toMatchObject({
        result: 'success',
        msg: '',
        queue_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        last_event_id: -1,
        zulip_feature_level: featureLevel,
        user_id: ada.userId,
        realm_uuid: test.server.realmUuid,
        realm_name: 'Example',
        realm_url: 'https://chat.example.com',
        max_topic_length: 60,
        max_message_length: 10_000,
        max_stream_name_length: 60,
        max_stream_description_length: 1024,
        realm_empty_topic_display_name: 'general chat',
        event_queue_longpoll_timeout_seconds: 90,
        push_devices: { '5': { status: 'active', error_code: null } },
      });
    });

    it('returns only the state of the requested types, by default the types of the queue', async () => {
      const tell = async (fields: Record<string, string>) =>
        Object.keys((await test.ask(ada, 'POST', 'register', fields)).body);
      const always = ['queue_id', 'zulip_feature_level', 'user_id', 'event_queue_longpoll_timeout_seconds'];
      expect(await tell({ event_types: '["push_device"]' })).toEqual(
        expect.arrayContaining([...always, 'push_devices']),
      );
      expect(await tell({ event_types: '["push_device"]' })).not.toContain('realm_url');
      const both = await tell({ event_types: '["push_device"]', fetch_event_types: '["realm"]' });
      expect(both).toContain('realm_url');
      expect(both).not.toContain('push_devices');
      const none = await tell({ fetch_event_types: '[]' });
      const versions = ['zulip_version', 'zulip_merge_base', 'idle_queue_timeout_secs'];
      expect(none.sort()).toEqual([...always, ...versions, 'last_event_id', 'msg', 'result'].sort());
    });

    it('evicts the least recently used queue of a user who already has fifty', async () => {
      const first = await newQueue();
      test.now += 1;
      const second = await newQueue();
      test.now += 1;
      for (let count = 0; count < 49; count += 1) await newQueue();
      expect((await poll(first, -1)).body.code).toBe('BAD_EVENT_QUEUE_ID');
      expect((await poll(second, -1)).status).toBe(200);
    });

    it('evicts no queue because of another user’s queues', async () => {
      const first = await newQueue();
      const bob = await test.addAccount('bob@example.com');
      test.now += 1;
      for (let count = 0; count < 50; count += 1) await newQueue(bob);
      await newQueue();
      expect((await poll(first, -1)).status).toBe(200);
    });
  });

  describe('an event queue', () => {
    it('holds the events of its types, in order, until they are acknowledged', async () => {
      const [all, some, other] = [
        await newQueue(),
        await newQueue(ada, { event_types: '["push_device"]' }),
        await newQueue(ada, { event_types: '["message"]' }),
      ];
      for (const id of ['1', '2', '3']) await makeEvent(id);
      expect(accountIds(await poll(all, -1))).toEqual(['1', '2', '3']);
      expect(accountIds(await poll(all, -1))).toEqual(['1', '2', '3']);
      expect(accountIds(await poll(some, 1))).toEqual(['3']);
      expect(accountIds(await poll(other, -1))).toEqual([]);
      const stored = test.server.database.db
        .selectFrom('queued_events')
        .select('event_id')
        .where('queue_id', '=', some);
      expect(await stored.execute()).toEqual([{ event_id: 2 }]);
      const tooOld = await poll(some, 0);
      expect([tooOld.status, tooOld.body.code]).toEqual([400, 'BAD_REQUEST']);
    });

    it('is reported to other users as if it did not exist', async () => {
      const bob = await test.addAccount('bob@example.com');
      const [hers, his] = [await newQueue(), await newQueue(bob)];
      await makeEvent('1');
      expect(accountIds(await poll(his, -1, true, bob))).toEqual([]);
      const stolen = await poll(hers, -1, true, bob);
      const missing = await poll('no-such-queue', -1, true, bob);
      expect([stolen.status, stolen.body]).toEqual([
        400,
        { result: 'error', msg: `Bad event queue ID: ${hers}`, code: 'BAD_EVENT_QUEUE_ID', queue_id: hers },
      ]);
      expect(missing.body).toEqual({
        ...stolen.body,
        msg: 'Bad event queue ID: no-such-queue',
        queue_id: 'no-such-queue',
      });
      expect((await test.ask(bob, 'DELETE', 'events', { queue_id: hers })).body.code).toBe(
        'BAD_EVENT_QUEUE_ID',
      );
      expect(accountIds(await poll(hers, -1))).toEqual(['1']);
    });

    it('can be deleted only once', async () => {
      const queue = await newQueue();
      const deleted = await test.ask(ada, 'DELETE', 'events', { queue_id: queue });
      expect([deleted.status, deleted.body]).toEqual([200, { result: 'success', msg: '' }]);
      const again = await test.ask(ada, 'DELETE', 'events', { queue_id: queue });
      expect([again.status, again.body]).toEqual([
        400,
        { result: 'error', msg: `Bad event queue ID: ${queue}`, code: 'BAD_EVENT_QUEUE_ID', queue_id: queue },
      ]);
      expect((await poll(queue, -1)).body.code).toBe('BAD_EVENT_QUEUE_ID');
    });

    it('requires its id, and also the last event id for a poll', async () => {
      const missing = await test.ask(ada, 'GET', 'events', { dont_block: 'true' });
      expect([missing.status, missing.body.code, missing.body.var_name]).toEqual([
        400,
        'REQUEST_VARIABLE_MISSING',
        'queue_id',
      ]);
      const second = await test.ask(ada, 'GET', 'events', { queue_id: await newQueue() });
      expect(second.body.var_name).toBe('last_event_id');
      expect((await test.ask(ada, 'DELETE', 'events')).body.var_name).toBe('queue_id');
    });

    it('survives a restart of the server, with its events', async () => {
      const queue = await newQueue();
      await makeEvent('1');
      await test.stop();
      await test.boot();
      await makeEvent('2');
      expect(accountIds(await poll(queue, -1))).toEqual(['1', '2']);
    });

    it('expires ten minutes after its last request, and stays alive while a client polls it', async () => {
      const [used, idle] = [await newQueue(), await newQueue()];
      for (let minutes = 0; minutes < 12; minutes += 3) {
        test.now += 3 * 60_000;
        expect((await poll(used, -1)).status).toBe(200);
      }
      expect((await poll(idle, -1)).body.code).toBe('BAD_EVENT_QUEUE_ID');
      await makeEvent('1');
      const kept = test.server.database.db.selectFrom('event_queues').select('queue_id');
      expect(await kept.execute()).toEqual([{ queue_id: used }]);
      expect(accountIds(await poll(used, -1))).toEqual(['1']);
    });

    it('is evicted when it has a thousand pending events', async () => {
      const queue = await newQueue();
      await test.server.database.db
        .updateTable('event_queues')
        .set({ last_event_id: 998 })
        .where('queue_id', '=', queue)
        .execute();
      await makeEvent('1');
      expect(accountIds(await poll(queue, -1))).toEqual(['1']);
      await makeEvent('2');
      expect((await poll(queue, -1)).body.code).toBe('BAD_EVENT_QUEUE_ID');
    });
  });

  describe('a long poll', () => {
    it('ends as soon as there is an event', async () => {
      await test.stop();
      await test.relay.close();
      const patient = await ServerUnderTest.start({ databaseUrl, longPollTimeoutSeconds: 60 });
      patient.relay.otherwise(registered(1));
      const queue = String((await patient.ask(ada, 'POST', 'register')).body.queue_id);
      const answer = patient.ask(ada, 'GET', 'events', { queue_id: queue, last_event_id: '-1' });
      await patient.register(ada, testPhone('1').fields);
      expect(accountIds(await answer)).toEqual(['1']);
      await patient.close();
      test = await ServerUnderTest.start();
    });

    it('ends with a heartbeat, which has the next ID and can be acknowledged', async () => {
      const queue = await newQueue();
      const first = await poll(queue, -1, false);
      expect(first.body).toEqual({
        result: 'success',
        msg: '',
        queue_id: queue,
        events: [{ id: 0, type: 'heartbeat' }],
      });
      expect((await poll(queue, 0, false)).body.events).toEqual([{ id: 1, type: 'heartbeat' }]);
      await makeEvent('1');
      expect((await poll(queue, 1, false)).body.events).toMatchObject([{ id: 2, type: 'push_device' }]);
    });

    it('ends with events whose signal was lost, before a heartbeat could acknowledge them', async () => {
      await test.stop();
      await test.relay.close();
      const patient = await ServerUnderTest.start({ databaseUrl });
      const queue = String((await patient.ask(ada, 'POST', 'register')).body.queue_id);
      let endQuietly: (end: WaitEnd) => void = () => undefined;
      const waits = vi.spyOn(QueueListener.prototype, 'wait').mockReturnValueOnce(
        new Promise((resolve) => {
          endQuietly = resolve;
        }),
      );
      const answer = patient.ask(ada, 'GET', 'events', { queue_id: queue, last_event_id: '-1' });
      await expect.poll(() => waits.mock.calls).toHaveLength(1);
      // Simulates another process that dies after its commit and before its signal.
      await patient.server.database.write(async ({ db }) => {
        await db
          .updateTable('event_queues')
          .set({ last_event_id: 0 })
          .where('queue_id', '=', queue)
          .execute();
        const { id } = await db
          .insertInto('event_texts')
          .values({ event: '{"type":"push_device"}' })
          .returning('id')
          .executeTakeFirstOrThrow();
        await db.insertInto('queued_events').values({ queue_id: queue, event_id: 0, text_id: id }).execute();
      });
      endQuietly('timed-out');
      expect((await answer).body.events).toEqual([{ id: 0, type: 'push_device' }]);
      await patient.close();
      test = await ServerUnderTest.start();
    });

    it('ends when its queue is deleted, when a newer poll replaces it, and when the server shuts down', async () => {
      await test.stop();
      await test.relay.close();
      const patient = await ServerUnderTest.start({ databaseUrl, longPollTimeoutSeconds: 60 });
      const open = async () => String((await patient.ask(ada, 'POST', 'register')).body.queue_id);
      const wait = (queue: string) =>
        patient.ask(ada, 'GET', 'events', { queue_id: queue, last_event_id: '-1' });
      const [deleted, shared, closed] = [await open(), await open(), await open()];
      const waits = vi.spyOn(QueueListener.prototype, 'wait');
      const waiting: Promise<Answer>[] = [];
      for (const queue of [deleted, shared, shared, closed]) {
        waiting.push(wait(queue));
        await expect.poll(() => waits.mock.calls).toHaveLength(waiting.length);
      }
      await patient.ask(ada, 'DELETE', 'events', { queue_id: deleted });
      expect((await waiting[0])?.body.code).toBe('BAD_EVENT_QUEUE_ID');
      expect((await waiting[1])?.body.events).toEqual([]);
      await patient.stop();
      expect((await waiting[2])?.body.events).toEqual([]);
      expect((await waiting[3])?.body.events).toEqual([]);
      await patient.close();
      test = await ServerUnderTest.start();
    });
  });
});
