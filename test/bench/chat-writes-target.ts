import { roles } from '@waxwing/server';
import { type ChatChannel, emptyQueues, makeChannel, sendRequest } from './chat-channel.js';
import { startChatServer } from './chat-server.js';
import type { WritesTarget } from './chat-writes.js';
import { HttpLoad } from './http-load.js';
import { startMinimalChat } from './minimal-chat.js';

/**
 * The process that `chat-writes` measures: a chat server, and a minimal chat server on a copy of its database. On any
 * message, empties the chat server's queues and reports the CPU seconds used.
 */

/** One user per request in flight, because a server handles only a few requests of one user concurrently. */
const users = 16;
/** Time for which each user sends messages that are edited later. */
const sendingMilliseconds = 100;

const chat = await startChatServer();
const channel = await makeChannel(chat, { name: 'bench', subscribers: 1, queues: 1 });
const { db } = chat.server.database;
await db.updateTable('event_queues').set({ event_types: '["message","update_message","stream"]' }).execute();
const senders: ChatChannel[] = [];
for (let number = 0; number < users; number++) {
  const { userId, authorization } = await chat.addAccount(`sender${number}@example.com`, roles.owner);
  senders.push({ id: channel.id, senderId: userId, authorization });
}
for (const sender of senders) await sendSome(sender);
await emptyQueues(chat);
const rows = await db.selectFrom('messages').select(['id', 'sender_id']).execute();
const messages = senders.flatMap(({ senderId, authorization }) =>
  rows.filter(({ sender_id }) => sender_id === senderId).map(({ id }) => ({ id, authorization })),
);
const minimalPort = await startMinimalChat(await chat.copyDatabase());
process.on('message', async () => {
  await emptyQueues(chat);
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1e6);
});
process.send?.({ port: chat.port, minimalPort, senders, messages } satisfies WritesTarget);
process.once('SIGTERM', async () => {
  await chat.close();
  process.exit(0);
});

async function sendSome(sender: ChatChannel): Promise<void> {
  const request = sendRequest(sender, 'a message that is **neither** long nor short');
  const load = await HttpLoad.open({ port: chat.port, connections: 1, nextRequest: () => request });
  await load.run(sendingMilliseconds);
  load.close();
}
