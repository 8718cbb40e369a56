import { expect } from 'vitest';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import { channelId, messageId } from '../../support/ids.js';
import { type Answer, ask } from './ask.js';
import { answered, type Limit } from './limit.js';
import type { ServerUnderLimits } from './server-under-limits.js';

type ServerLimit = Limit<ServerUnderLimits>;

const badRequest = [400, 'BAD_REQUEST'] as const;
const day = 24 * 60 * 60_000;
const mebibyte = 1024 * 1024;
const uploadPath = '/api/v1/user_uploads';
const avatarPath = '/api/v1/users/me/avatar';
const uploads = (status: number) => answered(`POST ${uploadPath}`, status);

/** Uploads a file of this many bytes as the greedy user. */
function upload(
  { url, greedy }: ServerUnderLimits,
  bytes: number,
  path: typeof uploadPath | typeof avatarPath = uploadPath,
  fields = '',
): Promise<Answer> {
  const head = 'content-disposition: form-data; name="file"; filename="a.txt"';
  return ask({
    url: url + path,
    method: 'POST',
    headers: { authorization: greedy.authorization, 'content-type': 'multipart/form-data; boundary=x' },
    body: `${fields}--x\r\n${head}\r\n\r\n${'GIF89a'.padEnd(bytes, 'x')}\r\n--x--\r\n`,
  });
}

/** Advances the clock until unreferenced uploads are removed and the organization has storage space again. */
async function removeUploads({ test }: ServerUnderLimits): Promise<void> {
  test.now += 28 * day + 3_600_000;
  await test.settle();
}

/** Creates this many users that can be mentioned or subscribed. */
async function addPeople({ test, greedy }: ServerUnderLimits, count: number): Promise<string[]> {
  const people = Array.from({ length: count }, (_, index) => `person-${index}-of-${greedy.email}`);
  const rows = people.map((email) => ({
    email,
    email_lower: email,
    full_name: email,
    role: 400,
    is_bot: 0,
    is_active: 1,
    api_key_hash: 'digest',
    created_at: 0,
  }));
  await test.server.database.write(({ db }) => db.insertInto('users').values(rows).execute());
  return people;
}

/** Creates a channel and subscribes the greedy user to it. */
async function channel(server: ServerUnderLimits): Promise<{ name: string; id: number }> {
  const name = `of ${server.greedy.email}`;
  const made = await server.ask('POST', 'users/me/subscriptions', {
    subscriptions: JSON.stringify([{ name }]),
  });
  expect(made).toMatchObject({ status: 200 });
  const { body } = await server.ask('GET', 'get_stream_id', { stream: name });
  return { name, id: Number(body?.stream_id) };
}

/**
 * Makes the greedy user an administrator, and adds linkifiers up to this count. Then adds one more, which the server
 * refuses.
 */
async function addLinkifiers(
  server: ServerUnderLimits,
  others: number,
  patterns: readonly [string, string],
): Promise<Answer> {
  const { greedy, test } = server;
  const rows = Array.from({ length: others }, (_, position) => ({
    pattern: `of ${greedy.email} ${position}`,
    url_template: 'https://a.example',
    position,
  }));
  await test.server.database.write(async ({ db }) => {
    await db.updateTable('users').set({ role: 200 }).where('id', '=', greedy.userId).execute();
    await db.deleteFrom('linkifiers').execute();
    await db
      .insertInto('linkifiers')
      .values([{ pattern: 'one', url_template: 'https://a.example', position: 0 }, ...rows])
      .execute();
  });
  const add = (pattern: string) =>
    server.ask('POST', 'realm/filters', { pattern, url_template: 'https://a.example' });
  expect(await add(patterns[0])).toMatchObject({ status: 200 });
  return add(patterns[1]);
}

/** Maximum numbers per message, per user and per request. */
const numbers: readonly ServerLimit[] = [
  {
    id: 'server-events-per-answer',
    metric: answered('GET /api/v1/events', 200),
    answer: [200],
    async provoke(server) {
      const { body } = await server.ask('POST', 'register', { event_types: '["told"]' });
      const audience = [server.greedy.userId];
      const publish = createPublisher({ notify: async () => undefined }, () => server.test.now);
      const told = Array.from({ length: 501 }, () => ({ event: { type: 'told' }, audience }));
      await server.test.server.database.write((transaction) => publish(transaction, told));
      const look = (last_event_id: string) =>
        server.ask('GET', 'events', { queue_id: String(body?.queue_id), last_event_id, dont_block: 'true' });
      const answer = await look('-1');
      expect(answer.body?.events).toHaveLength(500);
      expect((await look('499')).body?.events).toHaveLength(1);
      return answer;
    },
  },
  {
    id: 'server-topic-policies',
    metric: answered('POST /api/v1/user_topics', 400),
    answer: badRequest,
    async provoke(server) {
      const { id } = await channel(server);
      const rows = Array.from({ length: 9_999 }, (_, index) => ({
        user_id: server.greedy.userId,
        channel_id: channelId(id),
        topic: `t${index}`,
        topic_lower: `t${index}`,
        visibility_policy: 1,
        updated_at: 0,
      }));
      await server.test.server.database.write(async ({ db }) => {
        for (let from = 0; from < rows.length; from += 1000) {
          await db
            .insertInto('user_topics')
            .values(rows.slice(from, from + 1000))
            .execute();
        }
      });
      const mute = (topic: string) =>
        server.ask('POST', 'user_topics', { stream_id: String(id), topic, visibility_policy: '1' });
      expect(await mute('last')).toMatchObject({ status: 200 });
      return mute('one more');
    },
  },
  {
    id: 'server-edits-of-message',
    metric: answered('PATCH /api/v1/messages/{message_id}', 200),
    answer: [200],
    async provoke(server) {
      const { name } = await channel(server);
      const message = { type: 'stream', to: JSON.stringify(name), topic: 'lunch', content: 'hello' };
      const { body } = await server.ask('POST', 'messages', message);
      const rows = Array.from({ length: 1000 }, (_, index) => ({
        message_id: messageId(Number(body?.id)),
        edited_at: 0,
        editor_id: server.greedy.userId,
        prev_content: `text ${index}`,
        prev_rendered_content: `<p>text ${index}</p>`,
      }));
      await server.test.server.database.write(({ db }) =>
        db.insertInto('message_edits').values(rows).execute(),
      );
      const answer = await server.ask('PATCH', `messages/${body?.id}`, { content: 'one more' });
      const { body: history } = await server.ask('GET', `messages/${body?.id}/history`);
      expect(history?.message_history).toHaveLength(1001);
      return answer;
    },
  },
  {
    id: 'server-linkifiers',
    metric: answered('POST /api/v1/realm/filters', 400),
    answer: badRequest,
    provoke: (server) => addLinkifiers(server, 48, ['last', 'one more']),
  },
  {
    id: 'server-linkifier-pattern',
    metric: answered('POST /api/v1/realm/filters', 400),
    answer: badRequest,
    provoke: (server) => addLinkifiers(server, 0, [`[${'a'.repeat(498)}]`, `[${'a'.repeat(499)}]`]),
  },
];

/** Maximum duration of a poll, and maximum sizes of messages, channels, queues and uploads. */
export const serverChatLimits: readonly ServerLimit[] = [
  ...numbers,
  {
    id: 'server-poll-seconds',
    metric: answered('GET /api/v1/events', 200),
    answer: [200],
    async provoke(server) {
      const { body } = await server.ask('POST', 'register', { event_types: '["message"]' });
      const poll = { queue_id: String(body?.queue_id), last_event_id: '-1' };
      const answer = await server.ask('GET', 'events', poll);
      expect(answer.body?.events).toEqual([{ id: 0, type: 'heartbeat' }]);
      return answer;
    },
  },
  {
    id: 'server-recipients',
    metric: answered('POST /api/v1/messages', 400),
    answer: badRequest,
    async provoke(server) {
      const people = await addPeople(server, 101);
      const send = (to: readonly string[]) =>
        server.ask('POST', 'messages', { type: 'direct', to: JSON.stringify(to), content: 'hello' });
      expect(await send(people.slice(1))).toMatchObject({ status: 200 });
      return send(people);
    },
  },
  {
    id: 'server-subscriptions-at-once',
    metric: answered('POST /api/v1/users/me/subscriptions', 400),
    answer: badRequest,
    async provoke(server) {
      const people = await addPeople(server, 101);
      const names = Array.from({ length: 100 }, (_, index) => ({
        name: `of ${server.greedy.email} ${index}`,
      }));
      const subscribe = (subscriptions: readonly object[], principals: readonly string[]) =>
        server.ask('POST', 'users/me/subscriptions', {
          subscriptions: JSON.stringify(subscriptions),
          principals: JSON.stringify(principals),
        });
      expect(await subscribe(names.slice(0, 2), people)).toMatchObject({ status: 200 });
      return subscribe(names, people);
    },
  },
  {
    id: 'server-queue-narrow-characters',
    metric: answered('POST /api/v1/register', 400),
    answer: [400, 'BAD_NARROW'],
    async provoke(server) {
      const open = (characters: number) => {
        // The limit applies to the JSON encoding of the narrow, so it includes the JSON around the text.
        const empty = JSON.stringify([{ operator: 'topic', operand: '', isNegated: false }]);
        const narrow = [['topic', 'x'.repeat(characters - empty.length)]];
        return server.ask('POST', 'register', { narrow: JSON.stringify(narrow) });
      };
      expect(await open(2000)).toMatchObject({ status: 200 });
      return open(2001);
    },
  },
  {
    id: 'server-upload-fields',
    metric: uploads(413),
    answer: [413, 'PAYLOAD_TOO_LARGE'],
    async provoke(server) {
      const fields = (bytes: number): string =>
        `--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n${'x'.repeat(bytes)}\r\n`.repeat(2);
      expect(await upload(server, 1, uploadPath, fields(32 * 1024 - 1))).toMatchObject({ status: 200 });
      return upload(server, 1, uploadPath, fields(32 * 1024));
    },
    end: removeUploads,
  },
  {
    id: 'server-upload-bytes',
    metric: uploads(400),
    answer: badRequest,
    provoke: (server) => upload(server, 100 * mebibyte + 1),
  },
  {
    id: 'server-avatar-bytes',
    metric: answered(`POST ${avatarPath}`, 400),
    answer: badRequest,
    provoke: (server) => upload(server, 5 * mebibyte + 1, avatarPath),
  },
  {
    id: 'server-upload-quota',
    metric: uploads(400),
    answer: [400, 'REALM_UPLOAD_QUOTA'],
    async provoke(server) {
      expect(await upload(server, mebibyte)).toMatchObject({ status: 200 });
      return upload(server, 1);
    },
    end: removeUploads,
  },
  {
    id: 'server-unclaimed-upload',
    metric: 'waxwing_rows_removed_total{kind="upload"}',
    answer: [200],
    async provoke(server) {
      const answer = await upload(server, 1);
      await removeUploads(server);
      const { body } = await server.ask('GET', 'attachments');
      expect(body).toMatchObject({ attachments: [], upload_space_used: 0 });
      return answer;
    },
  },
];
