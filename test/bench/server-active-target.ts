import { sql } from 'kysely';
import { type ChatServer, startChatServer } from './chat-server.js';
import type { ActiveBenchTarget, BenchPhone } from './server-active.js';

/**
 * The process that `server-active` measures: a server that forwards registrations to the relay at the URL in its
 * argument, and a server that accepts registrations but runs no jobs.
 */

// With this many users, each user has only a few phones.
const users = 512;
const [relayUrl = ''] = process.argv.slice(2);

const forwarding = await startChatServer({ relayUrl });
const accepting = await startChatServer({ relayUrl });
await accepting.server.database.jobs.stop(0);
const target: ActiveBenchTarget = {
  forwardingPort: forwarding.port,
  acceptingPort: accepting.port,
  phones: await addPhones(forwarding),
  users: (await addPhones(accepting)).map(({ authorization }) => authorization),
};
process.send?.(target);
process.once('SIGTERM', async () => {
  await Promise.all([forwarding.close(), accepting.close()]);
  process.exit(0);
});

/** Adds users, each with an event queue for the status of the user's devices. */
async function addPhones(chat: ChatServer): Promise<BenchPhone[]> {
  const accounts = await Promise.all(
    Array.from({ length: users }, (_, index) => chat.addAccount(`user${index}@example.com`)),
  );
  await chat.server.database.write(async ({ db }) => {
    await sql`
      insert into event_queues (queue_id, user_id, event_types, last_event_id, acknowledged_event_id, last_used_at)
      select 'queue' || id, id, '["push_device","device"]', -1, -1, cast(${Date.now()} as bigint)
      from users where email_lower like 'user%@example.com'`.execute(db);
  });
  return accounts.map(({ userId, authorization }) => ({ queueId: `queue${userId}`, authorization }));
}
