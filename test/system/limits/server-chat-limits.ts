import { expect } from 'vitest';
import { type Answer, ask } from './ask.js';
import { answered, type Limit } from './limit.js';
import type { ServerUnderLimits } from './server-under-limits.js';

type ServerLimit = Limit<ServerUnderLimits>;

const badRequest = [400, 'BAD_REQUEST'] as const;
const day = 24 * 60 * 60_000;
const mebibyte = 1024 * 1024;
const uploadPath = '/api/v1/user_uploads';
const uploads = (status: number) => answered(`POST ${uploadPath}`, status);

/** Uploads a file of so many bytes as the greedy user. */
function upload({ url, greedy }: ServerUnderLimits, bytes: number): Promise<Answer> {
  const head = 'content-disposition: form-data; name="file"; filename="a.txt"';
  return ask({
    url: url + uploadPath,
    method: 'POST',
    headers: { authorization: greedy.authorization, 'content-type': 'multipart/form-data; boundary=x' },
    body: `--x\r\n${head}\r\n\r\n${'x'.repeat(bytes)}\r\n--x--\r\n`,
  });
}

/** Lets time pass until uploads to which no message refers are removed, so that the organisation has room again. */
async function removeUploads({ test }: ServerUnderLimits): Promise<void> {
  test.now += 28 * day + 3_600_000;
  await test.settle();
}

/** Makes so many users who are there to be named. */
async function addPeople({ test, greedy }: ServerUnderLimits, count: number): Promise<string[]> {
  const people = Array.from({ length: count }, (_, index) => `person-${index}-of-${greedy.email}`);
  const rows = people.map((email) => ({
    ...{ email, email_lower: email, full_name: email, role: 400, is_bot: 0, is_active: 1 },
    ...{ api_key_hash: 'digest', created_at: 0 },
  }));
  await test.server.database.write(({ db }) => db.insertInto('users').values(rows).execute());
  return people;
}

/** How long a poll may wait, and how much a message, a channel, a queue and an upload may take. */
export const serverChatLimits: readonly ServerLimit[] = [
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
        // It counts as the server writes it.
        const empty = JSON.stringify([{ operator: 'topic', operand: '', isNegated: false }]);
        const narrow = [['topic', 'x'.repeat(characters - empty.length)]];
        return server.ask('POST', 'register', { narrow: JSON.stringify(narrow) });
      };
      expect(await open(2000)).toMatchObject({ status: 200 });
      return open(2001);
    },
  },
  {
    id: 'server-upload-bytes',
    metric: uploads(400),
    answer: badRequest,
    provoke: (server) => upload(server, 100 * mebibyte + 1),
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
