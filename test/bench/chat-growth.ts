import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import type { BenchResult } from './bench-result.js';
import { median } from './bench-result.js';
import { type ChatServer, startChatServer } from './chat-server.js';

const sizes = [100, 1000, 10_000, 100_000];
const rounds = 30;
const registerName = 'chat-register';
/** Registering a queue lists every user, so it is not compared with a small organization. */
const registeringUsers = 10_000;
const registerMilliseconds = 40;

type Ask = (
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  fields: Record<string, unknown>,
) => Promise<Answer>;
type Answer = Record<string, unknown>;

/**
 * `chat-growth-…`: CPU time of sending, editing and changing a channel in an organization of 100,000 users, relative to
 * 100 users. One event queue is open, and the channel has one subscriber. `chat-register`: CPU time of registering a
 * queue with all state among 10,000 users, including the client's, against 40 ms.
 */
export async function run(): Promise<BenchResult[]> {
  const costs = new Map<string, number[]>();
  for (const size of sizes) {
    const chat = await startChatServer();
    try {
      for (const [name, cost] of Object.entries(await costsOf(chat, size))) {
        costs.set(name, [...(costs.get(name) ?? []), cost]);
      }
    } finally {
      await chat.close();
    }
  }
  return [...costs].map(([name, of]) => {
    const [first = Number.NaN, last = Number.NaN] = [of[0], of.at(-1)];
    const written = of.map((cost, index) => `${cost.toFixed(1)} ms with ${sizes[index]}`).join(', ');
    process.stderr.write(`${name}: ${written} users\n`);
    if (name === registerName) {
      const value = of[sizes.indexOf(registeringUsers)] ?? Number.NaN;
      const figures = { value, against: registerMilliseconds, ratio: value / registerMilliseconds };
      return { name, unit: 'ms', ...figures, goal: 1, better: 'lower' };
    }
    const figures = { value: last, against: first, ratio: last / first };
    return { name, unit: 'ms', ...figures, goal: 1.5, better: 'lower' };
  });
}

/** Median CPU time of each operation, in milliseconds. */
async function costsOf(chat: ChatServer, users: number): Promise<Record<string, number>> {
  await addUsers(chat, users);
  const { authorization } = await chat.addAccount('ada@example.com', 100);
  const ask = askingAs(chat, authorization);
  await ask('POST', 'users/me/subscriptions', { subscriptions: [{ name: 'few' }] });
  const { stream_id: id } = await ask('GET', 'get_stream_id', { stream: 'few' });
  await ask('POST', 'register', { fetch_event_types: [] });
  const send = (content: string) =>
    ask('POST', 'messages', { type: 'channel', to: id, topic: 'bench', content });
  const { id: messageId } = await send('hello');
  const operations: Record<string, (round: number) => Promise<unknown>> = {
    'chat-growth-send': () => send('hello'),
    'chat-growth-edit': (round) => ask('PATCH', `messages/${messageId}`, { content: `hello ${round}` }),
    'chat-growth-channel': (round) => ask('PATCH', `streams/${id}`, { description: `text ${round}` }),
  };
  const times = new Map(Object.keys(operations).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, act] of Object.entries(operations))
      times.get(name)?.push(await processorTime(() => act(round)));
  }
  // Registers last, because each registration opens a queue that also gets the events of the other requests.
  const register: number[] = [];
  for (let round = 0; round < rounds; round++)
    register.push(await processorTime(() => ask('POST', 'register', {})));
  times.set(registerName, register);
  // Drops the first third, which includes compilation and the checkpoint of the seed data to the database file.
  return Object.fromEntries([...times].map(([name, all]) => [name, median(all.slice(rounds / 3))]));
}

/** CPU time in milliseconds. */
async function processorTime(act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function askingAs({ port }: ChatServer, authorization: string): Ask {
  return async (method, path, fields) => {
    const texts = Object.entries(fields).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    const form = new URLSearchParams(texts);
    const url = `http://127.0.0.1:${port}/api/v1/${path}`;
    const response =
      method === 'GET'
        ? await fetch(`${url}?${form}`, { headers: { authorization } })
        : await fetch(url, { method, body: form, headers: { authorization } });
    const answer = (await response.json()) as Answer;
    if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
}

/** Adds members, all in one public channel and in the group of members. */
async function addUsers({ server: { database } }: ChatServer, users: number): Promise<void> {
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
  });
}
