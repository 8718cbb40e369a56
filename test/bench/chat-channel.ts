import { type Role, roles } from '@waxwing/server';
import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import type { ChatServer } from './chat-server.js';

/** A benchmark's channel and its sender. */
export interface ChatChannel {
  readonly id: number;
  readonly senderId: number;
  readonly authorization: string;
}

interface ChannelWish {
  readonly name: string;
  readonly subscribers: number;
  /** Number of subscribers with a live queue for messages. */
  readonly queues: number;
  /** The sender's role; default: member. */
  readonly role?: Role;
}

/**
 * Creates a public channel with subscribers. The first subscriber is the sender. Inserts rows directly, because
 * requests for thousands of users would take too long.
 */
export async function makeChannel(chat: ChatServer, wish: ChannelWish): Promise<ChatChannel> {
  const { name, subscribers, queues, role = roles.member } = wish;
  const { userId: senderId, authorization } = await chat.addAccount(`${name}@example.com`, role);
  const rows = Array.from({ length: subscribers - 1 }, (_, number) => ({ number }));
  const id = await chat.server.database.write(async ({ db }) => {
    const people = rowsAsTable(db, 'v', { number: 'integer' }, rows);
    await sql`
      insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
      select ${name} || v.number || '@example.com', ${name} || v.number || '@example.com', ${name} || ' ' || v.number,
        400, 0, '', 1, 1773230400000
      from ${people}`.execute(db);
    const channel = await db
      .insertInto('channels')
      .values({
        name,
        name_lower: name,
        description: '',
        rendered_description: '',
        topics_policy: 'inherit',
        is_private: 0,
        is_web_public: 0,
        is_history_public: 1,
        is_default: 0,
        is_archived: 0,
        created_at: Date.now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const ofChannel = sql`email_lower like ${`${name}%@example.com`}`;
    await sql`
      insert into subscriptions (channel_id, user_id, is_active, color, is_muted, pin_to_top)
      select cast(${channel.id} as bigint), id, 1, '#76ce90', 0, 0 from users where ${ofChannel}`.execute(db);
    await sql`
      insert into event_queues (queue_id, user_id, event_types, last_event_id, acknowledged_event_id, last_used_at)
      select ${name} || id, id, '["message"]', -1, -1, cast(${Date.now()} as bigint)
      from users where ${ofChannel} order by id limit ${queues}`.execute(db);
    return channel.id;
  });
  return { id, senderId, authorization };
}

/** Empties the queues, as if clients had acknowledged all events. Otherwise, the server would drop long queues. */
export async function emptyQueues({ server: { database } }: ChatServer): Promise<void> {
  await database.write(async ({ db }) => {
    await db.deleteFrom('queued_events').execute();
    await db.deleteFrom('event_texts').execute();
    await sql`update event_queues set acknowledged_event_id = last_event_id`.execute(db);
  });
}

/** Returns the bytes of a request that sends a message to the channel. */
export function sendRequest({ id, authorization }: ChatChannel, content: string): Buffer {
  const body = new URLSearchParams({ type: 'channel', to: String(id), topic: 'bench', content }).toString();
  return Buffer.from(
    `POST /api/v1/messages HTTP/1.1\r\nHost: chat\r\nAuthorization: ${authorization}\r\n` +
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
