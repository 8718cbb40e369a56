import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { alwaysThere, fieldsByType, messageShape } from '../register/register-answer-shape.js';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
type Sent = Readonly<Record<string, string>>;
/** How a client encodes parameters in a request. */
type Writer = (method: Method, path: string, sent: Sent) => { url: string; headers: Sent; payload: string };

const python: Writer = (method, path, sent) => {
  const form = new URLSearchParams(sent).toString();
  const headers = { 'user-agent': 'ZulipPython/0.9.0 (Linux; 6.1)' };
  if (method === 'GET') return { url: `${path}?${form}`, headers, payload: '' };
  const typed = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
  return { url: path, headers: typed, payload: form };
};

const boundary = '----formdata-undici-0123456789';
const javascript: Writer = (method, path, sent) => {
  if (method !== 'POST') return { url: `${path}?${new URLSearchParams(sent)}`, headers: {}, payload: '' };
  const parts = Object.entries(sent).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return { url: path, headers, payload: `${parts.join('')}--${boundary}--\r\n` };
};

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let channels = 0;

  /** Sends a request as the client does and expects success. */
  const client = (write: Writer) => async (method: Method, path: string, sent: Sent) => {
    const { authorization } = organisation.accounts.member;
    const { url, headers, payload } = write(method, `/api/v1/${path}`, sent);
    const request = { method, url, headers: { ...headers, authorization } };
    const { body } = await organisation.server.send(payload === '' ? request : { ...request, payload });
    expect([`${method} ${path}`, body]).toEqual([`${method} ${path}`, expect.objectContaining({ msg: '' })]);
    return body;
  };

  describe.each([
    ['the Python library and the terminal client: URL-encoded bodies', python],
    ['the JavaScript library: multipart, the query string, and null', javascript],
  ])('requests from %s', (_, write) => {
    it('can register, subscribe, send, edit, mark, read, leave and delete', async () => {
      const ask = client(write);
      channels += 1;
      const name = `recorded ${channels}`;
      await ask('GET', 'server_settings', {});
      const queue = await ask('POST', 'register', {
        event_types: 'null',
        fetch_event_types: JSON.stringify([
          ...['realm', 'presence', 'subscription', 'message', 'starred_messages', 'update_message_flags'],
          ...['muted_topics', 'realm_user', 'realm_user_groups', 'user_settings', 'realm_emoji'],
          'custom_profile_fields',
        ]),
        client_gravatar: 'true',
        apply_markdown: 'true',
        include_subscribers: 'true',
      });
      const queue_id = String(queue.queue_id);
      await ask('POST', 'users/me/subscriptions', { subscriptions: JSON.stringify([{ name }]) });
      const { stream_id } = await ask('GET', 'get_stream_id', { stream: name });
      const { id } = await ask('POST', 'messages', {
        type: 'stream',
        to: JSON.stringify([name]),
        subject: 'songs',
        content: 'a *b*',
        queue_id,
        local_id: '1.5',
      });
      await ask('PATCH', `messages/${id}`, {
        message_id: String(id),
        content: 'c',
        propagate_mode: 'change_one',
        send_notification_to_old_thread: 'false',
        send_notification_to_new_thread: 'false',
      });
      await ask('PATCH', `messages/${id}`, { topic: 'calls', propagate_mode: 'change_all' });
      await ask('POST', 'messages/flags', { messages: `[${id}]`, op: 'add', flag: 'starred' });
      const { messages } = await ask('GET', 'messages', {
        anchor: 'first_unread',
        num_before: '30',
        num_after: '10',
        apply_markdown: 'true',
        narrow: JSON.stringify([['stream', name]]),
        client_gravatar: 'true',
      });
      expect(messages).toEqual(expect.arrayContaining([expect.objectContaining({ id, subject: 'calls' })]));
      expect(await ask('GET', `messages/${id}`, { apply_markdown: 'false' })).toMatchObject({
        message: { id, content: 'c' },
      });
      const { message_history } = await ask('GET', `messages/${id}/history`, {});
      expect(message_history).toHaveLength(3);
      expect(await ask('GET', `users/me/${stream_id}/topics`, {})).toMatchObject({
        topics: [{ name: 'calls' }],
      });
      const { events } = await ask('GET', 'events', { queue_id, last_event_id: '-1', dont_block: 'true' });
      const kinds = (events as { type: string }[]).map(({ type }) => type);
      expect(kinds).toEqual(expect.arrayContaining(['subscription', 'message', 'update_message']));
      await ask('POST', 'users/me/subscriptions/properties', {
        subscription_data: JSON.stringify([{ stream_id, property: 'is_muted', value: true }]),
      });
      await ask('DELETE', 'users/me/subscriptions', { subscriptions: JSON.stringify([name]) });
      await ask('DELETE', 'events', { queue_id });
    });
  });

  describe('the mobile app', () => {
    it('can parse the responses about channels, topics and messages', async () => {
      const [reader, second] = [organisation.id('moderator'), organisation.id('second')];
      const { subscribed } = await organisation.do('second', 'POST', 'users/me/subscriptions', {
        subscriptions: [{ name: 'left' }, { name: 'muted' }, { name: 'stays' }],
        principals: [reader, second],
      });
      expect(Object.keys(subscribed as object)).toHaveLength(2);
      await organisation.do('second', 'POST', 'users/me/subscriptions', {
        subscriptions: [{ name: 'never' }],
      });
      await organisation.do('moderator', 'DELETE', 'users/me/subscriptions', { subscriptions: ['left'] });
      const { stream_id } = await organisation.do('moderator', 'GET', 'get_stream_id', { stream: 'muted' });
      const topic = { stream_id, topic: 'a' };
      await organisation.do('moderator', 'POST', 'user_topics', { ...topic, visibility_policy: 1 });
      const toChannel = { type: 'channel', to: 'stays', topic: 'b', content: `@**all** https://a.example` };
      const { id } = await organisation.do('second', 'POST', 'messages', toChannel);
      await organisation.do('second', 'PATCH', `messages/${id}`, {
        topic: 'c',
        content: 'd @**all**',
        send_notification_to_new_thread: false,
      });
      for (const to of [[reader], [reader, organisation.id('owner')]]) {
        await organisation.do('second', 'POST', 'messages', { type: 'direct', to, content: 'e' });
      }
      await organisation.do('moderator', 'POST', 'messages/flags', {
        messages: [id],
        op: 'add',
        flag: 'starred',
      });
      const body = await organisation.do('moderator', 'POST', 'register', { include_subscribers: true });
      const all: z.ZodRawShape = Object.assign({}, alwaysThere, ...Object.values(fieldsByType));
      expect(z.looseObject(all).safeParse(body).error?.issues).toBeUndefined();
      const lengths = ['unsubscribed', 'starred_messages', 'muted_topics', 'user_topics'];
      for (const name of lengths) expect([name, body[name]]).toEqual([name, [expect.anything()]]);
      expect(body.unread_msgs).toMatchObject({
        count: 3,
        mentions: [id],
        pms: [{ other_user_id: second }],
        streams: [{ topic: 'c', unread_message_ids: [id] }],
        huddles: [expect.anything()],
      });
      const { messages } = await organisation.do('moderator', 'GET', 'messages', {
        anchor: 'newest',
        num_before: 100,
        num_after: 0,
      });
      expect(z.array(messageShape).min(3).safeParse(messages).error?.issues).toBeUndefined();
    });
  });
});
