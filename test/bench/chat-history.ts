import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { MessageId, UserId } from '@waxwing/protocol';
import { type BenchResult, median } from './bench-result.js';
import { makeChannel, sendRequest } from './chat-channel.js';
import { type ChatServer, startChatServer } from './chat-server.js';
import { HttpLoad } from './http-load.js';

const rounds = 30;
const short = { edits: 10, characters: 100 };
const long = { edits: 100, characters: 10_000 };

interface Edited {
  readonly edits: number;
  readonly characters: number;
}

/**
 * `chat-history`: CPU time of reading a history of 100 edits of maximum length, relative to a history of ten short
 * edits. Includes the client, which runs in the same process.
 */
export async function run(): Promise<BenchResult[]> {
  const chat = await startChatServer();
  try {
    const channel = await makeChannel(chat, { name: 'bench', subscribers: 1, queues: 0 });
    const load = await HttpLoad.open({
      port: chat.port,
      connections: 1,
      nextRequest: () => sendRequest(channel, 'now'),
    });
    await load.repeat(2);
    load.close();
    const [first, second] = await chat.server.database.db
      .selectFrom('messages')
      .select('id')
      .orderBy('id', 'desc')
      .limit(2)
      .execute();
    if (first === undefined || second === undefined) throw new Error('messages are missing');
    await addEdits(chat, { id: first.id, editorId: channel.senderId as UserId }, short);
    await addEdits(chat, { id: second.id, editorId: channel.senderId as UserId }, long);
    const times: { short: number[]; long: number[] } = { short: [], long: [] };
    for (let round = 0; round < rounds; round += 1) {
      times.short.push(await costOf(() => readHistory(chat, channel.authorization, first.id)));
      times.long.push(await costOf(() => readHistory(chat, channel.authorization, second.id)));
    }
    // Drops the first third, which includes compilation.
    const [value, against] = [times.long, times.short].map((all) => median(all.slice(rounds / 3))) as [
      number,
      number,
    ];
    return [
      { name: 'chat-history', unit: 'ms', value, against, ratio: value / against, goal: 10, better: 'lower' },
    ];
  } finally {
    await chat.close();
  }
}

async function addEdits(
  { server }: ChatServer,
  { id, editorId }: { readonly id: MessageId; readonly editorId: UserId },
  { edits, characters }: Edited,
): Promise<void> {
  const text = 'A message with *some* markup. '.repeat(characters / 30);
  const row = {
    message_id: id,
    editor_id: editorId,
    edited_at: Date.now(),
    prev_content: text,
    prev_rendered_content: `<p>${text}</p>`,
    content_html_diff: `<div><p>${text}</p></div>`,
    prev_topic: null,
    topic: null,
    prev_channel_id: null,
    channel_id: null,
  };
  await server.database.write(({ db }) =>
    db
      .insertInto('message_edits')
      .values(Array.from({ length: edits }, () => row))
      .execute(),
  );
}

/** Returns the CPU time of `work`, in milliseconds. */
async function costOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function readHistory({ port }: ChatServer, authorization: string, id: number): Promise<void> {
  const path = `/api/v1/messages/${id}/history`;
  const [response] = (await once(
    get({ host: '127.0.0.1', port, path, headers: { authorization } }),
    'response',
  )) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the server answered ${response.statusCode}`);
  response.resume();
  await once(response, 'end');
}
