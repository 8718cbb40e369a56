import type { AddressInfo } from 'node:net';
import { DatabaseSync } from '@photostructure/sqlite';
import { hashCredential } from '@waxwing/service/config';
import { fastify } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    userId: number;
  }
}

type Statement = ReturnType<InstanceType<typeof DatabaseSync>['prepare']>;
type Fields = Readonly<Record<string, string>>;
type Write = (fields: Fields, id: number, userId: number) => void;

const html = (content: string) => `<p>${content}</p>`;

/**
 * Starts a minimal chat server and returns its port. The server authenticates, commits the same rows and events as the
 * product to a SQLite database with the same tables, and batches the requests of one event-loop tick into one commit.
 * It does not check permissions.
 */
export async function startMinimalChat(file: string): Promise<number> {
  const database = new DatabaseSync(file);
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 8192; pragma cache_size = -32768',
  );
  const user = database.prepare('select id, api_key_hash from users where email_lower = ? and is_active = 1');
  const commit = groupCommit(database);
  const app = fastify();
  app.decorateRequest('userId', 0);
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  app.addHook('onRequest', async (request, reply) => {
    const [email = '', key = ''] = atob(request.headers.authorization?.slice('Basic '.length) ?? '').split(
      ':',
    );
    const known = user.get(email) as unknown as { id: number; api_key_hash: string } | undefined;
    if (known?.api_key_hash !== hashCredential(key)) await reply.code(401).send();
    else request.userId = known.id;
  });
  const writes = writesOf((text) => database.prepare(text));
  const serve = (method: 'PATCH' | 'POST', url: string, write: Write) =>
    app.route<{ Body: Fields; Params: { id?: string } }>({
      method,
      url,
      handler: async ({ body, params, userId }) => {
        await commit(() => write(body, Number(params.id), userId));
        return { result: 'success', msg: '' };
      },
    });
  serve('POST', '/api/v1/messages', writes.send);
  serve('PATCH', '/api/v1/messages/:id', writes.edit);
  serve('PATCH', '/api/v1/streams/:id', writes.describe);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Row of a message before an edit. */
interface Before {
  readonly sender_id: number;
  readonly channel_id: number;
  readonly content: string;
  readonly rendered_content: string;
}

/** Returns the writes of each operation, with handwritten statements that are prepared once. */
function writesOf(prepare: (text: string) => Statement): Record<'send' | 'edit' | 'describe', Write> {
  const insertMessage = prepare(
    `insert into messages (sender_id, channel_id, topic, topic_lower, content, rendered_content, sent_at, client,
       has_link, has_image, has_attachment)
     values (?6, ?1, ?2, ?2, ?3, ?4, ?5, 'bench', 0, 0, 0)
     returning id`,
  );
  const copies = prepare(
    `insert into user_messages (user_id, message_id, flags)
     select user_id, ?1, 0 from subscriptions where channel_id = ?2 and is_active = 1 union select ?3, ?1, 1`,
  );
  const newest = prepare(
    'update channels set last_message_at = ?, first_message_id = coalesce(first_message_id, ?) where id = ?',
  );
  const message = prepare('select * from messages where id = ?');
  const keepEdit = prepare(
    `insert into message_edits (message_id, edited_at, editor_id, prev_content, prev_rendered_content)
     values (?, ?, ?, ?, ?)`,
  );
  const changeMessage = prepare(
    'update messages set content = ?, rendered_content = ?, last_edited_at = ? where id = ?',
  );
  const describe = prepare('update channels set description = ?, rendered_description = ? where id = ?');
  const publish = publisher(prepare);
  return {
    send({ to, topic = '', content = '' }, _, userId) {
      const [channelId, now] = [Number(to), Date.now()];
      const { id } = insertMessage.get(channelId, topic, content, html(content), now, userId) as {
        id: number;
      };
      copies.run(id, channelId, userId);
      newest.run(now, id, channelId);
      publish(channelId, { type: 'message', flags: [], message: { id, topic, content: html(content), now } });
    },
    edit({ content = '' }, id) {
      const now = Date.now();
      const before = message.get(id) as unknown as Before;
      keepEdit.run(id, now, before.sender_id, before.content, before.rendered_content);
      changeMessage.run(content, html(content), now, id);
      const event = { type: 'update_message', message_id: id, content, rendered_content: html(content) };
      const { content: orig_content, rendered_content: orig_rendered_content } = before;
      publish(before.channel_id, { ...event, orig_content, orig_rendered_content });
    },
    describe({ description = '' }, id) {
      describe.run(description, html(description), id);
      publish(id, { type: 'stream', op: 'update', property: 'description', value: description });
    },
  };
}

/** Returns a function that appends an event to the queues of a channel's subscribers. */
function publisher(prepare: (text: string) => Statement): (channelId: number, event: object) => void {
  const text = prepare('insert into event_texts (event) values (?) returning id');
  const ofChannel = `user_id in (select user_id from subscriptions where channel_id = ? and is_active = 1)`;
  const queued = prepare(
    `insert into queued_events (queue_id, event_id, text_id)
     select queue_id, last_event_id + 1, ? from event_queues where ${ofChannel}`,
  );
  const advance = prepare(`update event_queues set last_event_id = last_event_id + 1 where ${ofChannel}`);
  return (channelId, event) => {
    const { id } = text.get(JSON.stringify(event)) as { id: number };
    queued.run(id, channelId);
    advance.run(channelId);
  };
}

/** Returns a function that commits all writes of one event-loop tick together. */
function groupCommit(database: InstanceType<typeof DatabaseSync>): (write: () => void) => Promise<void> {
  let waiting: (() => void)[] = [];
  let committed: Promise<void> | undefined;
  return (write) => {
    waiting.push(write);
    committed ??= new Promise((resolve) => {
      setImmediate(() => {
        const writes = waiting;
        [waiting, committed] = [[], undefined];
        database.exec('begin immediate');
        for (const each of writes) each();
        database.exec('commit');
        resolve();
      });
    });
    return committed;
  };
}
