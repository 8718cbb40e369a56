import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { shareOf } from '../support/share-of.js';
import { createTemporaryPostgres } from '../support/temporary-postgres.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { type ChatChannel, makeChannel } from './chat-channel.js';
import { type ChatServer, startChatServer } from './chat-server.js';

const rounds = 3;
const moved = 50_000;
const idleMilliseconds = 5000;
const pauseMilliseconds = 10;

/**
 * `chat-move`: p99 of other people's requests on PostgreSQL, half of them messages to another channel, while 50,000
 * messages move to another topic, against the same when nothing moves. Left out when `WAXWING_TEST_POSTGRES_URL` is not set.
 */
export async function run(): Promise<BenchResult[]> {
  const serverUrl = process.env.WAXWING_TEST_POSTGRES_URL;
  if (!serverUrl) {
    console.error('chat-move is left out: WAXWING_TEST_POSTGRES_URL is not set');
    return [];
  }
  const postgres = await createTemporaryPostgres(serverUrl);
  const chat = await startChatServer({ databaseUrl: postgres.url });
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  try {
    const ask = asker(chat, agent);
    const large = await makeChannel(chat, { name: 'large', subscribers: 20, queues: 5 });
    const other = await makeChannel(chat, { name: 'other', subscribers: 20, queues: 5 });
    const firstId = await fillTopic(chat, large);
    let turn = 0;
    const moving = async (): Promise<number> => {
      const start = performance.now();
      const parameters = {
        topic: `topic ${turn++}`,
        propagate_mode: 'change_all',
        send_notification_to_new_thread: 'false',
      };
      const done = ask(large, 'PATCH', `/api/v1/messages/${firstId}`, parameters);
      const p99 = await p99While(() => askSomething(ask, other), done);
      process.stderr.write(
        `chat-move moved ${moved} messages in ${(performance.now() - start).toFixed(0)} ms\n`,
      );
      return p99;
    };
    const idle = () => p99While(() => askSomething(ask, other), setTimeout(idleMilliseconds));
    await idle();
    const figures = await medianRates(rounds, moving, idle);
    return [{ name: 'chat-move', unit: 'ms at p99', ...figures, goal: 3, better: 'lower' }];
  } finally {
    agent.destroy();
    await chat.close();
    await postgres.drop();
  }
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

let asked = 0;

async function askSomething(ask: Ask, channel: ChatChannel): Promise<void> {
  asked += 1;
  if (asked % 2 === 0) return ask(channel, 'GET', '/api/v1/users/me');
  const parameters = { type: 'channel', to: String(channel.id), topic: 'other', content: 'hello' };
  return ask(channel, 'POST', '/api/v1/messages', parameters);
}

/** Asks again and again, some requests at a time with a pause after each, until `end`: milliseconds at p99. */
async function p99While(askOnce: () => Promise<void>, end: Promise<unknown>): Promise<number> {
  let isOver = false;
  const ended = end.finally(() => {
    isOver = true;
  });
  const took: number[] = [];
  const worker = async (): Promise<void> => {
    while (!isOver) {
      const start = performance.now();
      await askOnce();
      took.push(performance.now() - start);
      await setTimeout(pauseMilliseconds);
    }
  };
  await Promise.all([ended, worker(), worker(), worker(), worker()]);
  return shareOf(took, 0.99);
}

/** The id of the first of the messages. */
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
