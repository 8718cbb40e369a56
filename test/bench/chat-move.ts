import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { roles } from '@waxwing/server';
import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { shareOf } from '../support/share-of.js';
import { createTemporaryPostgres } from '../support/temporary-postgres.js';
import type { BenchResult } from './bench-result.js';
import { type ChatChannel, makeChannel } from './chat-channel.js';
import { type ChatServer, startChatServer } from './chat-server.js';

const moved = 100_000;
const rounds = 3;
const pauseMilliseconds = 10;
/** The p99 latency that docs/limits.md promises to other users during an expensive request. */
const promisedMilliseconds = 200;

/**
 * `chat-move…`: p99 latency of other users' requests while 100,000 messages move to another topic, or to another
 * channel and back, compared with the limit in docs/limits.md. Half of the requests send messages to a third channel.
 * Skips PostgreSQL if `WAXWING_TEST_POSTGRES_URL` is not set.
 */
export async function run(): Promise<BenchResult[]> {
  const results = await onDatabase('sqlite', undefined);
  const serverUrl = process.env.WAXWING_TEST_POSTGRES_URL;
  if (!serverUrl) {
    console.error('chat-move-postgres is skipped: WAXWING_TEST_POSTGRES_URL is not set');
    return results;
  }
  const postgres = await createTemporaryPostgres(serverUrl);
  try {
    return [...results, ...(await onDatabase('postgres', postgres.url))];
  } finally {
    await postgres.drop();
  }
}

async function onDatabase(kind: string, databaseUrl: string | undefined): Promise<BenchResult[]> {
  const chat = await startChatServer({ databaseUrl });
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  try {
    const ask = asker(chat, agent);
    const large = await makeChannel(chat, { name: 'large', subscribers: 20, queues: 5, role: roles.owner });
    const target = await makeChannel(chat, { name: 'target', subscribers: 20, queues: 5 });
    const other = await makeChannel(chat, { name: 'other', subscribers: 20, queues: 5 });
    // A separate user reads: a message that waits for the database blocks its sender's other requests.
    const reader = { ...other, ...(await chat.addAccount('reader@example.com')) };
    const firstId = await fillTopic(chat, large);
    const p99OfMove = async (name: string, where: (turn: number) => Record<string, string>) => {
      const taken: Taken = { reads: [], writes: [] };
      for (let turn = 0; turn < rounds; turn += 1) {
        const parameters = {
          ...where(turn),
          propagate_mode: 'change_all',
          send_notification_to_new_thread: 'false',
        };
        const start = performance.now();
        const done = ask(large, 'PATCH', `/api/v1/messages/${firstId}`, parameters);
        await askUntil(done, { ask, other, reader }, taken);
        process.stderr.write(
          `${name} moved ${moved} messages in ${(performance.now() - start).toFixed(0)} ms\n`,
        );
      }
      return [resultOf(`${name}-reads`, taken.reads), resultOf(`${name}-writes`, taken.writes)];
    };
    return [
      ...(await p99OfMove(`chat-move-${kind}`, (turn) => ({ topic: `topic ${turn}` }))),
      ...(await p99OfMove(`chat-move-channel-${kind}`, (turn) => ({
        stream_id: String((turn % 2 === 0 ? target : large).id),
      }))),
    ];
  } finally {
    agent.destroy();
    await chat.close();
  }
}

interface Others {
  readonly ask: Ask;
  /** Channel that gets messages during the move. */
  readonly other: ChatChannel;
  readonly reader: ChatChannel;
}

interface Taken {
  /** Milliseconds of each read. */
  readonly reads: number[];
  readonly writes: number[];
}

function resultOf(name: string, milliseconds: readonly number[]): BenchResult {
  const value = shareOf(milliseconds, 0.99);
  const ratio = value / promisedMilliseconds;
  process.stderr.write(
    `${name}: ${milliseconds.length}, p50 ${shareOf(milliseconds, 0.5).toFixed(0)} ms, max ${Math.max(...milliseconds).toFixed(0)} ms\n`,
  );
  return { name, value, unit: 'ms at p99', against: promisedMilliseconds, ratio, goal: 1, better: 'lower' };
}

type Ask = (
  channel: ChatChannel,
  method: string,
  path: string,
  parameters?: Record<string, string>,
) => Promise<void>;

function asker({ port }: ChatServer, agent: Agent): Ask {
  return async ({ authorization }, method, path, parameters) => {
    const body = new URLSearchParams(parameters).toString();
    const type = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(body),
    };
    const headers = { authorization, ...(method === 'GET' ? {} : type) };
    const sent = request({ host: '127.0.0.1', port, agent, method, path, headers });
    sent.end(method === 'GET' ? undefined : body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
  };
}

/** Runs two readers and two writers until `end`. Each pauses after every request. */
async function askUntil(end: Promise<unknown>, { ask, other, reader }: Others, taken: Taken): Promise<void> {
  let isOver = false;
  const ended = end.finally(() => {
    isOver = true;
  });
  const message = { type: 'channel', to: String(other.id), topic: 'other', content: 'hello' };
  const read = () => ask(reader, 'GET', '/api/v1/users/me');
  const write = () => ask(other, 'POST', '/api/v1/messages', message);
  const worker = async (act: () => Promise<void>, milliseconds: number[]): Promise<void> => {
    while (!isOver) {
      const start = performance.now();
      await act();
      milliseconds.push(performance.now() - start);
      await setTimeout(pauseMilliseconds);
    }
  };
  const reading = [0, 1].map(() => worker(read, taken.reads));
  const writing = [0, 1].map(() => worker(write, taken.writes));
  await Promise.all([ended, ...reading, ...writing]);
}

/** Fills a topic. Resolves to the id of the first message. */
async function fillTopic({ server: { database } }: ChatServer, channel: ChatChannel): Promise<number> {
  const numbers = Array.from({ length: moved }, (_, number) => ({ number }));
  return database.write(async ({ db }) => {
    const now = Date.now();
    await sql`
      insert into messages (sender_id, channel_id, topic, topic_lower, content, rendered_content, sent_at, client,
        has_link, has_image, has_attachment)
      select cast(${channel.senderId} as bigint), cast(${channel.id} as bigint), 'full', 'full', 'hello ' || v.number,
        '<p>hello</p>', cast(${now} as bigint) + v.number - ${moved}, 'bench', 0, 0, 0
      from ${rowsAsTable(db, 'v', { number: 'integer' }, numbers)}`.execute(db);
    await sql`
      insert into user_messages (user_id, message_id, flags)
      select subscriptions.user_id, messages.id, 1
      from messages join subscriptions on subscriptions.channel_id = messages.channel_id
      where messages.channel_id = ${channel.id} and subscriptions.user_id = ${channel.senderId}`.execute(db);
    const { rows } = await sql<{ id: number }>`
      select min(id) as id from messages where channel_id = ${channel.id}`.execute(db);
    return Number(rows[0]?.id);
  });
}
