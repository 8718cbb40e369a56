import { stringifyJson } from '@waxwing/protocol';
import { sql } from 'kysely';
import { channelId } from '../support/ids.js';
import { emptyQueues, makeChannel, sendRequest } from './chat-channel.js';
import type { ReadTarget } from './chat-read.js';
import { startChatServer } from './chat-server.js';
import { HttpLoad } from './http-load.js';
import { keepBusy } from './keep-busy.js';

/**
 * The process that `chat-read` measures: a chat server with a channel that has more messages than one read returns. On
 * request, runs the bare query for a given time and reports its rate per second.
 */

const messages = 100;
const atOnce = 8;

const chat = await startChatServer();
const channel = await makeChannel(chat, { name: 'bench', subscribers: 10, queues: 0 });
await sendMany();
process.on('message', async (milliseconds: number) => {
  process.send?.(await keepBusy(atOnce, milliseconds, readBare));
});
process.send?.({ port: chat.port, atOnce, request: readRequest() } satisfies ReadTarget);
process.once('SIGTERM', async () => {
  await chat.close();
  process.exit(0);
});

async function sendMany(): Promise<void> {
  const text = 'A message with *some* markup, a [link](https://example.com) and `code`.\n\n* one\n* two\n';
  const request = sendRequest(channel, text.repeat(3));
  const load = await HttpLoad.open({ port: chat.port, connections: atOnce, nextRequest: () => request });
  await load.repeat(messages);
  load.close();
  await emptyQueues(chat);
}

/** Returns a request for the channel's newest messages. */
function readRequest(): string {
  const query = new URLSearchParams({
    anchor: 'newest',
    num_before: String(messages),
    num_after: '0',
    narrow: JSON.stringify([{ operator: 'channel', operand: channel.id }]),
  });
  return `GET /api/v1/messages?${query} HTTP/1.1\r\nHost: chat\r\nAuthorization: ${channel.authorization}\r\n\r\n`;
}

async function readBare(): Promise<number> {
  const rows = await chat.server.database.db
    .selectFrom('messages')
    .innerJoin('users', 'users.id', 'messages.sender_id')
    .innerJoin('channels', 'channels.id', 'messages.channel_id')
    .leftJoin('user_messages as copy', (join) =>
      join.onRef('copy.message_id', '=', 'messages.id').onRef('copy.user_id', '=', 'messages.sender_id'),
    )
    .where('messages.channel_id', '=', channelId(channel.id))
    .selectAll('messages')
    .select(['users.email', 'users.full_name', 'channels.name', sql<number>`copy.flags`.as('flags')])
    .orderBy('messages.id', 'desc')
    .limit(messages)
    .execute();
  if (stringifyJson(rows as never).length < messages * 100) throw new Error('messages are missing');
  return 1;
}
