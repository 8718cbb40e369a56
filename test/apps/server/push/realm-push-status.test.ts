import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { notified, type RelayReaction, refused, registered } from '../../../support/relay-stand-in.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type Account, ServerUnderTest, testPhone } from '../server-under-test.js';

const notifyPath = '/api/v1/remotes/push/e2ee/notify';
const minuteMilliseconds = 60_000;
const endTimestamp = 1_773_500_000;

/** A successful response with the organization's push status at the relay. */
function notifiedWith(can_push: boolean, expected_end_timestamp: number | null = null): RelayReaction {
  const { body, ...answer } = notified() as Exclude<RelayReaction, string>;
  return { ...answer, body: { ...Object(body), realm_push_status: { can_push, expected_end_timestamp } } };
}

eachBackend((backend) => {
  describe('the push status that the relay reports for the organization', () => {
    let test: ServerUnderTest;
    let databaseUrl: string;
    let ada: Account;
    let bob: Account;

    beforeEach(async () => {
      databaseUrl = await backend.freshUrl();
      test = await ServerUnderTest.start({ databaseUrl });
      ada = await test.addAccount('ada@example.com');
      bob = await test.addAccount('bob@example.com');
      test.relay.next(registered(41));
      await test.register(ada, testPhone('7').fields);
      await test.settle();
    });
    afterEach(async () => {
      await test.close();
    });

    function relayAnswers(reaction: RelayReaction): void {
      test.relay.requests.splice(0);
      test.relay.otherwise(reaction);
    }

    async function writeToAda(): Promise<void> {
      const to = JSON.stringify([ada.userId]);
      const sent = await test.ask(bob, 'POST', 'messages', { type: 'direct', to, content: 'hello' });
      expect(sent.status).toBe(200);
      await test.settle();
    }

    /** Advances the clock by six minutes. After five, the server asks a relay that has disabled push again. */
    async function waitForQuestion(): Promise<void> {
      test.now += 6 * minuteMilliseconds;
      await test.settle();
    }

    function notifications(): unknown[] {
      const asked = test.relay.requests.filter(({ path }) => path === notifyPath);
      return asked.flatMap(({ body }) => JSON.parse(body).push_requests);
    }

    async function enabledIn(server: ServerUnderTest): Promise<unknown> {
      const { body } = await server.ask(ada, 'POST', 'register', { fetch_event_types: '["realm"]' });
      return [body.realm_push_notifications_enabled, body.realm_push_notifications_enabled_end_timestamp];
    }

    const update = (name: string, value: unknown) =>
      expect.objectContaining({ type: 'realm', op: 'update', property: name, value });
    const updatesOf = (events: Record<string, unknown>[]) => events.filter(({ type }) => type === 'realm');

    it('switches push off in every process, and on again once the relay does, with an event each time', async () => {
      const events = await test.openQueue(bob, { event_types: '["realm"]' });
      expect(await enabledIn(test)).toEqual([true, null]);
      relayAnswers(notifiedWith(false));
      await writeToAda();
      expect(notifications()).toHaveLength(1);
      expect(await enabledIn(test)).toEqual([false, null]);
      // SQLite allows only one process.
      if (backend.name === 'postgres') {
        const other = await ServerUnderTest.start({ databaseUrl });
        expect(await enabledIn(other)).toEqual([false, null]);
        await other.close();
      }
      const off = update('push_notifications_enabled', false);
      expect(updatesOf(await events())).toEqual([off]);

      await writeToAda();
      await waitForQuestion();
      // The status request does not contain a device.
      expect(notifications()).toHaveLength(1);
      expect(updatesOf(await events())).toEqual([off]);

      relayAnswers(notifiedWith(true));
      await waitForQuestion();
      expect(await enabledIn(test)).toEqual([true, null]);
      expect(updatesOf(await events())).toEqual([off, update('push_notifications_enabled', true)]);
      expect(notifications()).toEqual([]);
      await writeToAda();
      expect(notifications()).toHaveLength(1);
    });

    it('also changes when the relay refuses a notification because of its plan, and the notification is dropped', async () => {
      relayAnswers(refused(400, 'PUSH_NOTIFICATIONS_DISALLOWED', 'no plan'));
      await writeToAda();
      expect(await enabledIn(test)).toEqual([false, null]);
      expect(await test.server.database.jobs.list({ kind: 'notifications/deliver-notification' })).toEqual(
        [],
      );
      relayAnswers(notifiedWith(true));
      await waitForQuestion();
      expect(await enabledIn(test)).toEqual([true, null]);
      expect(notifications()).toEqual([]);
    });

    it('includes the date when push will end, until the relay withdraws this date', async () => {
      const events = await test.openQueue(bob, { event_types: '["realm"]' });
      const name = 'push_notifications_enabled_end_timestamp';
      relayAnswers(notifiedWith(true, endTimestamp));
      await writeToAda();
      expect(await enabledIn(test)).toEqual([true, endTimestamp]);
      relayAnswers(notifiedWith(true));
      await writeToAda();
      expect(await enabledIn(test)).toEqual([true, null]);
      expect(updatesOf(await events())).toEqual([update(name, endTimestamp), update(name, null)]);
    });

    it('is off without a relay, and a restart with other settings publishes the change once', async () => {
      const { body } = await test.ask(bob, 'POST', 'register', { event_types: '["realm"]' });
      const query = { queue_id: String(body.queue_id), last_event_id: '-1', dont_block: 'true' };
      const events = async () =>
        updatesOf((await test.ask(bob, 'GET', 'events', query)).body.events as Record<string, unknown>[]);
      await test.stop();
      const lonely = await ServerUnderTest.start({ withoutRelay: true, folder: test.folder, databaseUrl });
      expect(await enabledIn(lonely)).toEqual([false, null]);
      await lonely.stop();
      await lonely.relay.close();
      await test.boot();
      expect(await enabledIn(test)).toEqual([true, null]);
      await test.stop();
      await test.boot();
      const [off, on] = [false, true].map((value) => update('push_notifications_enabled', value));
      expect(await events()).toEqual([off, on]);
    });

    it('prevents test notifications while push is off, but registrations are still accepted and forwarded', async () => {
      relayAnswers(notifiedWith(false));
      await writeToAda();
      relayAnswers(registered(42));
      const refusal = await test.ask(ada, 'POST', 'mobile_push/e2ee/test_notification');
      expect([refusal.status, refusal.body.code]).toEqual([403, 'ADMIN_ACTION_REQUIRED']);
      expect(notifications()).toEqual([]);
      expect((await test.register(ada, testPhone('8').fields)).status).toBe(200);
      await test.settle();
      expect(await test.pushDevices(ada)).toMatchObject({ 8: { status: 'active' } });
    });
  });
});
