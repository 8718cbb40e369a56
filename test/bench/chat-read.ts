import { stringifyJson } from '@waxwing/protocol';
import { sql } from 'kysely';
import { channelId } from '../support/ids.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { type ChatChannel, emptyQueues, makeChannel, sendRequest } from './chat-channel.js';
import { type ChatServer, startChatServer } from './chat-server.js';
import { HttpLoad } from './http-load.js';
import { keepBusy } from './keep-busy.js';

const rounds = 9;
const roundMilliseconds = 1000;
const atOnce = 8;
const messages = 100;
/** A program that has read less often is still being compiled: each reading then takes twice as long. */
const warmingReadings = 3000;

/**
 * `chat-read`: readings a second of a channel's newest 100 messages, rendered, through HTTP, against the bare query of the
 * same rows and their JSON.
 */
export async function run(): Promise<BenchResult[]> {
  const chat = await startChatServer();
  try {
    const channel = await makeChannel(chat, { name: 'bench', subscribers: 10, queues: 0 });
    await sendMany(chat, channel);
    const narrow = JSON.stringify([{ operator: 'channel', operand: channel.id }]);
    const query = new URLSearchParams({
      anchor: 'newest',
      num_before: String(messages),
      num_after: '0',
      narrow,
    });
    const request = Buffer.from(
      `GET /api/v1/messages?${query} HTTP/1.1\r\nHost: chat\r\nAuthorization: ${channel.authorization}\r\n\r\n`,
    );
    const load = await HttpLoad.open({
      port: chat.port,
      connections: atOnce,
      nextRequest: () => request,
      expected: '"found_newest":true',
    });
    await repeat(warmingReadings, () => load.run(roundMilliseconds));
    const bare = () => keepBusy(atOnce, roundMilliseconds, () => readBare(chat, channel));
    const rates = await medianRates(rounds, () => load.run(roundMilliseconds), bare);
    load.close();
    return [{ name: 'chat-read', unit: 'readings/s', ...rates, goal: 0.5, better: 'higher' }];
  } finally {
    await chat.close();
  }
}

async function sendMany(chat: ChatServer, channel: ChatChannel): Promise<void> {
  const text = 'A message with *some* markup, a [link](https://example.com) and `code`.\n\n* one\n* two\n';
  const request = sendRequest(channel, text.repeat(3));
  const load = await HttpLoad.open({ port: chat.port, connections: atOnce, nextRequest: () => request });
  await repeat(messages, () => load.run(roundMilliseconds));
  load.close();
  await emptyQueues(chat);
}

/** Runs a load again and again until it was answered so often, however slow the machine is. @throws when nothing is. */
async function repeat(answers: number, run: () => Promise<number>): Promise<void> {
  for (let answered = 0; answered < answers; ) {
    const start = performance.now();
    const rate = await run();
    if (rate === 0) throw new Error('every request was refused');
    answered += (rate * (performance.now() - start)) / 1000;
  }
}

async function readBare({ server: { database } }: ChatServer, { id }: ChatChannel): Promise<number> {
  const rows = await database.db
    .selectFrom('messages')
    .innerJoin('users', 'users.id', 'messages.sender_id')
    .innerJoin('channels', 'channels.id', 'messages.channel_id')
    .leftJoin('user_messages as copy', (join) =>
      join.onRef('copy.message_id', '=', 'messages.id').onRef('copy.user_id', '=', 'messages.sender_id'),
    )
    .where('messages.channel_id', '=', channelId(id))
    .selectAll('messages')
    .select(['users.email', 'users.full_name', 'channels.name', sql<number>`copy.flags`.as('flags')])
    .orderBy('messages.id', 'desc')
    .limit(messages)
    .execute();
  if (stringifyJson(rows as never).length < messages * 100) throw new Error('messages are missing');
  return 1;
}
