import { DatabaseSync } from '@photostructure/sqlite';
import { type BenchResult, medianRates } from './bench-result.js';
import { type ChatChannel, emptyQueues, makeChannel, sendRequest } from './chat-channel.js';
import { type ChatServer, startChatServer } from './chat-server.js';
import { HttpLoad } from './http-load.js';

type Database = InstanceType<typeof DatabaseSync>;

const rounds = 7;
const roundMilliseconds = 1500;
const atOnce = 32;
const wish = { name: 'bench', subscribers: 1000, queues: 200 };
const content = 'a message that is **neither** long nor short, and that nobody waits for';

/**
 * `chat-send`: durable messages per second over HTTP to a channel of 1,000 subscribers with 200 live queues, compared
 * with bare statements that commit the same number of messages at a time, on a database with the same rows.
 */
export async function run(): Promise<BenchResult[]> {
  const chat = await startChatServer();
  const bare = await BareStatements.open();
  try {
    const channel = await makeChannel(chat, wish);
    const request = sendRequest(channel, content);
    const load = await HttpLoad.open({ port: chat.port, connections: atOnce, nextRequest: () => request });
    const ours = async (): Promise<number> => {
      await emptyQueues(chat);
      return load.run(roundMilliseconds);
    };
    await ours();
    const rates = await medianRates(rounds, ours, async () => bare.rate());
    load.close();
    return [{ name: 'chat-send', unit: 'messages/s', ...rates, goal: 0.5, better: 'higher' }];
  } finally {
    bare.close();
    await chat.close();
  }
}

/** The minimal statements for a message, handwritten and prepared once. */
class BareStatements {
  readonly #database: Database;
  readonly #channel: ChatChannel;
  readonly #end: () => Promise<void>;

  private constructor(database: Database, channel: ChatChannel, end: () => Promise<void>) {
    this.#database = database;
    this.#channel = channel;
    this.#end = end;
  }

  static async open(): Promise<BareStatements> {
    const chat: ChatServer = await startChatServer();
    const channel = await makeChannel(chat, wish);
    await chat.server.close();
    const database = new DatabaseSync(chat.databaseUrl.slice('sqlite:'.length));
    database.exec(
      'pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 8192; pragma cache_size = -32768',
    );
    return new BareStatements(database, channel, () => chat.close());
  }

  rate(): number {
    this.#empty();
    const send = this.#prepare();
    const start = performance.now();
    let sent = 0;
    while (performance.now() - start < roundMilliseconds) {
      this.#database.exec('begin immediate');
      for (let index = 0; index < atOnce; index += 1) send();
      this.#database.exec('commit');
      sent += atOnce;
    }
    return (sent * 1000) / (performance.now() - start);
  }

  close(): void {
    this.#database.close();
    void this.#end();
  }

  #empty(): void {
    this.#database.exec(
      'delete from queued_events; delete from event_texts; update event_queues set acknowledged_event_id = last_event_id',
    );
  }

  #prepare(): () => void {
    const { id: channelId, senderId } = this.#channel;
    const prepare = (text: string) => this.#database.prepare(text);
    const message = prepare(
      `insert into messages (sender_id, channel_id, topic, topic_lower, content, rendered_content, sent_at, client,
         has_link, has_image, has_attachment)
       values (?, ?, 'bench', 'bench', ?, ?, ?, 'bench', 0, 0, 0) returning id`,
    );
    const copies = prepare(
      `insert into user_messages (user_id, message_id, flags)
       select user_id, ?, 0 from subscriptions where channel_id = ? and is_active = 1`,
    );
    const newest = prepare(
      'update channels set last_message_at = ?, first_message_id = coalesce(first_message_id, ?) where id = ?',
    );
    const text = prepare('insert into event_texts (event) values (?) returning id');
    const queued = prepare(
      `insert into queued_events (queue_id, event_id, text_id)
       select queue_id, last_event_id + 1, ? from event_queues
       where user_id in (select user_id from subscriptions where channel_id = ? and is_active = 1)`,
    );
    const advance = prepare(
      `update event_queues set last_event_id = last_event_id + 1
       where user_id in (select user_id from subscriptions where channel_id = ? and is_active = 1)`,
    );
    return () => {
      const now = Date.now();
      const html = `<p>${content}</p>`;
      const { id } = message.get(senderId, channelId, content, html, now) as { id: number };
      copies.run(id, channelId);
      newest.run(now, id, channelId);
      const event = JSON.stringify({
        type: 'message',
        flags: [],
        message: { id, senderId, content: html, now },
      });
      const { id: textId } = text.get(event) as { id: number };
      queued.run(textId, channelId);
      advance.run(channelId);
    };
  }
}
