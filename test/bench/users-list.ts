import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { type BenchResult, median, medianRates } from './bench-result.js';
import { type ChatServer, startChatServer } from './chat-server.js';
import { watchHolds } from './longest-hold.js';

const users = 100_000;
const rounds = 7;
const longestHoldMilliseconds = 50;

/**
 * `users-list`: lists of 100,000 users per second over HTTP, compared with a bare query for the same rows and their
 * JSON. `users-list-hold`: the longest time that a list blocks the event loop, as the median of all rounds, compared
 * with 50 ms.
 */
export async function run(): Promise<BenchResult[]> {
  const chat = await startChatServer();
  try {
    const { authorization } = await chat.addAccount('reader@example.com');
    await addManyUsers(chat);
    const holds: number[] = [];
    const ours = async (): Promise<number> => {
      const start = performance.now();
      const stopWatching = watchHolds();
      const bytes = await readList(chat.port, authorization);
      holds.push(stopWatching());
      if (bytes < users * 100) throw new Error(`the list is only ${bytes} bytes`);
      return 1000 / (performance.now() - start);
    };
    const bare = async (): Promise<number> => {
      const start = performance.now();
      const rows = await chat.server.database.db.selectFrom('users').selectAll().orderBy('id').execute();
      if (JSON.stringify(rows).length < users * 100) throw new Error('rows are missing');
      return 1000 / (performance.now() - start);
    };
    await ours();
    holds.length = 0;
    const rates = await medianRates(rounds, ours, bare);
    process.stderr.write(
      `users-list held the event loop for at most ${holds.map((hold) => hold.toFixed(0)).join(', ')} ms\n`,
    );
    const hold = median(holds);
    const holdRates = {
      value: hold,
      against: longestHoldMilliseconds,
      ratio: hold / longestHoldMilliseconds,
    };
    return [
      { name: 'users-list', unit: 'lists/s', goal: 0.5, better: 'higher', ...rates },
      { name: 'users-list-hold', unit: 'ms', goal: 1, better: 'lower', ...holdRates },
    ];
  } finally {
    await chat.close();
  }
}

async function addManyUsers({ server: { database } }: ChatServer): Promise<void> {
  const rows = Array.from({ length: users }, (_, index) => ({ number: index }));
  await database.write(async ({ db }) => {
    await sql`
      insert into users
        (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
      select 'user' || v.number || '@example.com', 'user' || v.number || '@example.com', 'User ' || v.number,
        400, 0, '', 1, 1773230400000
      from ${rowsAsTable(db, 'v', { number: 'integer' }, rows)}`.execute(db);
  });
}

/** Returns the size of the response in bytes. */
async function readList(port: number, authorization: string): Promise<number> {
  const request = get({ host: '127.0.0.1', port, path: '/api/v1/users', headers: { authorization } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the server answered ${response.statusCode}`);
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  return bytes;
}
