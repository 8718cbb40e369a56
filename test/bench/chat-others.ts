import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import type { ChatServer } from './chat-server.js';

/** Users that a benchmark's operations do not affect. */
export interface Others {
  readonly users: number;
  /** Event queues of these users for events that the operations do not publish. */
  readonly queues: number;
}

/** Adds members, all in one public channel and in the group of members. */
export async function addOthers(
  { server: { database } }: ChatServer,
  { users, queues }: Others,
): Promise<void> {
  const rows = Array.from({ length: users }, (_, number) => ({ number }));
  await database.write(async ({ db }) => {
    await sql`
      insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
      select 'user' || v.number || '@example.com', 'user' || v.number || '@example.com', 'User ' || v.number,
        400, 0, 'none', 1, 1773230400000
      from ${rowsAsTable(db, 'v', { number: 'integer' }, rows)}`.execute(db);
    await sql`
      insert into user_group_members (group_id, user_id)
      select user_groups.id, users.id from users join user_groups on user_groups.name = 'role:members'`.execute(
      db,
    );
    await sql`
      insert into channels (
        name, name_lower, description, rendered_description, topics_policy, is_private, is_web_public,
        is_history_public, is_default, is_archived, created_at
      ) values ('all', 'all', '', '', 'inherit', 0, 0, 1, 0, 0, 1773230400000)`.execute(db);
    await sql`
      insert into subscriptions (channel_id, user_id, is_active, color, is_muted, pin_to_top)
      select channels.id, users.id, 1, '#76ce90', 0, 0 from channels cross join users`.execute(db);
    await sql`
      insert into event_queues (queue_id, user_id, event_types, last_event_id, acknowledged_event_id, last_used_at)
      select 'user' || id, id, '["typing"]', -1, -1, cast(${Date.now()} as bigint)
      from users where email_lower like 'user%@example.com' order by id limit ${queues}`.execute(db);
  });
  // Updates the planner's statistics after the tables have grown.
  if (database.kind === 'postgres') await sql`analyze`.execute(database.db);
}
