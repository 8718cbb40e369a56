import { Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import zulip from 'zulip-js';
import { setPassword } from '#server/membership/user-administration/set-password.js';
import { featureLevel } from '#server/people/realm/feature-level.js';
import { registered } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';
import { type Account, ServerUnderTest, testPhone } from './server-under-test.js';

const password = 'correct horse battery';

eachBackend((backend) => {
  let test: ServerUnderTest;
  let ada: Account;
  let realm: string;
  beforeAll(async () => {
    test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
    test.relay.otherwise(registered(1));
    ada = await test.addAccount('ada@example.com');
    await setPassword(
      test.server.database,
      () => test.now,
      ada.email,
      async () => new Secret(password),
    );
    realm = await test.server.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => test.close());

  const signIn = () => zulip({ realm, username: ada.email, password });

  describe('the stock client for JavaScript', () => {
    it('signs in with a password, and reads its own profile and all users', async () => {
      const client = await signIn();
      expect(client.config.apiKey).toMatch(/^[A-Za-z0-9]{32}$/);
      expect(await client.users.me.getProfile()).toMatchObject({ result: 'success', user_id: ada.userId });
      const { members } = await client.users.retrieve({ client_gravatar: true });
      expect(members).toEqual([expect.objectContaining({ user_id: ada.userId, full_name: 'Somebody' })]);
      expect(await client.server.settings()).toMatchObject({ result: 'success', realm_name: 'Example' });
    });

    it('gets an error for a wrong password', async () => {
      const client = await zulip({ realm, username: ada.email, password: 'wrong horse battery' });
      expect(client.config.apiKey).toBeUndefined();
      expect(await client.users.me.getProfile()).toMatchObject({ result: 'error', code: 'INVALID_API_KEY' });
    });

    it('registers a queue, receives events, and deletes the queue', async () => {
      const client = await signIn();
      const queue = await client.queues.register({ event_types: ['realm_user', 'user_settings'] });
      expect(queue).toMatchObject({
        result: 'success',
        last_event_id: -1,
        zulip_feature_level: featureLevel,
      });
      const { queue_id } = queue;
      const waiting = client.events.retrieve({ queue_id, last_event_id: queue.last_event_id });
      expect(await client.callEndpoint('/settings', 'PATCH', { timezone: 'Europe/Paris' })).toMatchObject({
        result: 'success',
      });
      const { events } = await waiting;
      expect(events).toEqual([
        { id: 0, type: 'user_settings', op: 'update', property: 'timezone', value: 'Europe/Paris' },
        ...[
          {
            id: 1,
            type: 'realm_user',
            op: 'update',
            person: { user_id: ada.userId, timezone: 'Europe/Paris' },
          },
        ],
      ]);
      expect(await client.queues.deregister({ queue_id })).toMatchObject({ result: 'success' });
      expect(await client.events.retrieve({ queue_id, last_event_id: 1 })).toMatchObject({
        result: 'error',
        code: 'BAD_EVENT_QUEUE_ID',
      });
    });

    it('registers a queue for all events with null for omitted parameters', async () => {
      const client = await signIn();
      const answer = await client.callEndpoint('/register', 'POST', { event_types: 'null' });
      expect(answer).toMatchObject({ result: 'success', realm_name: 'Example', subscriptions: [] });
    });

    it('registers a phone for encrypted push by a generic request', async () => {
      const client = await signIn();
      const { fields } = testPhone('77');
      expect(await client.callEndpoint('/mobile_push/register', 'POST', fields)).toMatchObject({
        result: 'success',
      });
      await test.settle();
      const answer = await client.callEndpoint('/register', 'POST', { fetch_event_types: '["push_device"]' });
      expect(answer.push_devices).toEqual({ 77: { status: 'active', error_code: null } });
    });

    it.each(['ж', '漢', '😀', '\u{1f1e6}', ' ', '%', 'a'])(
      'edits a message to the maximum number of %j, which it sends in the query string',
      async (character) => {
        const client = await signIn();
        const { id } = await client.messages.send({ type: 'direct', to: [ada.userId], content: 'short' });
        const content = `x${character.repeat(9_998)}x`;
        const message_id = Number(id);
        expect(await client.messages.update({ message_id, content })).toMatchObject({ result: 'success' });
        expect(await client.messages.getById({ message_id })).toMatchObject({ raw_content: content });
        expect(await client.messages.update({ message_id, content: '😀'.repeat(20_000) })).toMatchObject({
          result: 'error',
          code: 'REQUEST_HEADERS_TOO_LARGE',
        });
      },
    );

    it('creates a channel, sends, edits, reads and stars a message, and gets the events', async () => {
      const client = await signIn();
      const subscriptions = JSON.stringify([{ name: 'birds', description: 'What sings' }]);
      const added = await client.users.me.subscriptions.add({ subscriptions });
      expect(added).toMatchObject({ result: 'success', subscribed: { [ada.userId]: ['birds'] } });
      const { stream_id } = await client.streams.getStreamId('birds');
      const { subscriptions: own } = await client.streams.subscriptions.retrieve();
      expect(own).toMatchObject([{ stream_id, name: 'birds', is_muted: false }]);
      const { streams } = await client.streams.retrieve({ include_public: true });
      expect(streams).toMatchObject([{ stream_id, name: 'birds' }]);

      const kinds = ['message', 'update_message', 'update_message_flags', 'delete_message'];
      const queue = await client.queues.register({ event_types: kinds });
      const { queue_id } = queue;
      const sent = await client.messages.send({
        type: 'stream',
        to: 'birds',
        topic: 'wrens',
        content: 'They **sing**.',
        queue_id,
        local_id: '7.01',
      });
      expect(sent).toMatchObject({ result: 'success', id: expect.any(Number) });
      const message_id = Number(sent.id);
      expect(await client.messages.update({ message_id, content: 'They *sing*.' })).toMatchObject({
        result: 'success',
        detached_uploads: [],
        ignored_parameters_unsupported: ['message_id'],
      });
      const { message_history } = await client.messages.getHistoryById({ message_id });
      expect(message_history).toMatchObject([
        { content: 'They **sing**.' },
        { prev_content: 'They **sing**.', content: 'They *sing*.', user_id: ada.userId },
      ]);
      const around = { anchor: 'newest', num_before: 5, num_after: 0 };
      const narrow = [{ operator: 'channel', operand: 'birds' }];
      const { messages } = await client.messages.retrieve({ ...around, narrow });
      expect(messages).toMatchObject([
        { id: message_id, subject: 'wrens', content: '<p>They <em>sing</em>.</p>' },
      ]);
      expect(await client.streams.topics.retrieve({ stream_id })).toMatchObject({
        topics: [{ name: 'wrens', max_id: message_id }],
      });
      expect(await client.messages.flags.add({ messages: [message_id], flag: 'starred' })).toMatchObject({
        result: 'success',
        messages: [message_id],
      });

      const { events } = await client.events.retrieve({ queue_id, last_event_id: -1, dont_block: true });
      expect(events).toMatchObject([
        { type: 'message', local_message_id: '7.01', message: { id: message_id, content: 'They **sing**.' } },
        { type: 'update_message', message_id, content: 'They *sing*.', rendering_only: false },
        { type: 'update_message_flags', op: 'add', flag: 'starred', messages: [message_id] },
      ]);
      expect(await client.users.me.subscriptions.remove({ subscriptions: '["birds"]' })).toMatchObject({
        result: 'success',
        removed: ['birds'],
      });
    });

    it('sends a direct message by user ID, and reads one message', async () => {
      const client = await signIn();
      const { id: message_id } = await client.messages.send({
        type: 'private',
        to: [ada.userId],
        content: 'a note',
      });
      expect(await client.messages.getById({ message_id })).toMatchObject({
        message: { id: message_id, type: 'private', subject: '' },
        raw_content: 'a note',
      });
    });

    it('sends typing notifications and presence', async () => {
      const client = await signIn();
      expect(await client.typing.send({ op: 'start', to: [ada.userId] })).toMatchObject({
        result: 'success',
      });
      const presence = { status: 'active', ping_only: 'false', new_user_input: 'true' };
      expect(await client.callEndpoint('/users/me/presence', 'POST', presence)).toMatchObject({
        result: 'success',
        presences: {},
      });
    });
  });
});
