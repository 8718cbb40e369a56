import { createTemporaryPostgres } from '../support/temporary-postgres.js';
import { type BenchResult, median } from './bench-result.js';
import { askingAs, type ChatAsk } from './chat-ask.js';
import { addOthers, type Others } from './chat-others.js';
import { startChatServer } from './chat-server.js';

const sizes = [100, 1000, 10_000, 100_000];
const queueCounts = [1, 100, 1000, 10_000];
const usersWithQueues = 10_000;
const rounds = 30;
/**
 * Users for `chat-register`. Its cost grows with the users it lists, so the peer is a limit, not a small organization.
 */
const registeringUsers = 10_000;
const registerMilliseconds = 40;

type Costs = Readonly<Record<string, number>>;

/**
 * `chat-growth-…`: CPU time of sending a message, editing a message and changing a channel in an organization of
 * 100,000 users, relative to 100 users. One event queue is open, and the channel has one subscriber.
 * `chat-growth-queues-…`: the same operations with 10,000 event queues, relative to one; the queues of other users do
 * not request these events. `chat-register`: CPU time of registering a queue with all state in an organization of
 * 10,000 users, compared with 40 ms, on SQLite. CPU time includes the client, which runs in the server's process, but
 * not PostgreSQL. Skips PostgreSQL if `WAXWING_TEST_POSTGRES_URL` is not set.
 */
export async function run(): Promise<BenchResult[]> {
  const results = await onDatabase('sqlite');
  if (process.env.WAXWING_TEST_POSTGRES_URL) return [...results, ...(await onDatabase('postgres'))];
  console.error('chat-growth on PostgreSQL is skipped: WAXWING_TEST_POSTGRES_URL is not set');
  return results;
}

type Kind = 'sqlite' | 'postgres';

async function onDatabase(kind: Kind): Promise<BenchResult[]> {
  const bySize: Costs[] = [];
  for (const users of sizes) bySize.push(await withChat(kind, { users, queues: 0 }, costsOf));
  const byQueues: Costs[] = [];
  for (const queues of queueCounts)
    byQueues.push(await withChat(kind, { users: usersWithQueues, queues: queues - 1 }, costsOf));
  printTable(`CPU ms on ${kind}`, 'users', sizes, bySize);
  printTable(`CPU ms on ${kind} with ${usersWithQueues} users`, 'queues', queueCounts, byQueues);
  const results = [
    ...growthOf((name) => `chat-growth-${name}-${kind}`, bySize),
    ...growthOf((name) => `chat-growth-queues-${name}-${kind}`, byQueues),
  ];
  return kind === 'sqlite' ? [...results, await registering()] : results;
}

async function registering(): Promise<BenchResult> {
  const value = await withChat('sqlite', { users: registeringUsers, queues: 0 }, costOfRegistering);
  const figures = { value, against: registerMilliseconds, ratio: value / registerMilliseconds };
  return { name: 'chat-register', unit: 'ms', ...figures, goal: 1, better: 'lower' };
}

const compared = ['send', 'edit', 'channel'];

function growthOf(nameOf: (name: string) => string, costs: readonly Costs[]): BenchResult[] {
  return compared.map((name) => {
    const [against = Number.NaN, value = Number.NaN] = [costs[0]?.[name], costs.at(-1)?.[name]];
    return {
      name: nameOf(name),
      unit: 'ms',
      value,
      against,
      ratio: value / against,
      goal: 1.5,
      better: 'lower',
    };
  });
}

function printTable(title: string, column: string, counts: readonly number[], costs: readonly Costs[]): void {
  const lines = counts.map((count, index) => {
    const figures = Object.values(costs[index] ?? {}).map((cost) => cost.toFixed(1));
    return `| ${count.toLocaleString('en-US')} | ${figures.join(' | ')} |\n`;
  });
  process.stderr.write(
    `${title}\n| ${column} | ${Object.keys(costs[0] ?? {}).join(' | ')} |\n${lines.join('')}`,
  );
}

/** Runs `measure` as a user of an organization with `others`, on a new database. */
async function withChat<Result>(
  kind: Kind,
  others: Others,
  measure: (ask: ChatAsk) => Promise<Result>,
): Promise<Result> {
  const { WAXWING_TEST_POSTGRES_URL: serverUrl = '' } = process.env;
  const postgres = kind === 'postgres' ? await createTemporaryPostgres(serverUrl) : undefined;
  try {
    const chat = await startChatServer({ databaseUrl: postgres?.url });
    try {
      await addOthers(chat, others);
      const { authorization } = await chat.addAccount('ada@example.com', 100);
      return await measure(askingAs(chat, authorization));
    } finally {
      await chat.close();
    }
  } finally {
    await postgres?.drop();
  }
}

/** Returns the median CPU time of each operation, in milliseconds. */
async function costsOf(ask: ChatAsk): Promise<Costs> {
  const operations = Object.entries(await operationsOf(ask));
  const times = new Map(operations.map(([name]): [string, number[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, act] of operations) times.get(name)?.push(await processorTime(() => act(round)));
  }
  return Object.fromEntries([...times].map(([name, all]) => [name, settledMedian(all)]));
}

async function costOfRegistering(ask: ChatAsk): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++)
    times.push(await processorTime(() => ask('POST', 'register', {})));
  return settledMedian(times);
}

/** Returns the median without the first third, which includes compilation and the checkpoint of the seed data. */
function settledMedian(times: readonly number[]): number {
  return median(times.slice(rounds / 3));
}

async function operationsOf(ask: ChatAsk): Promise<Record<string, (round: number) => Promise<unknown>>> {
  await ask('POST', 'users/me/subscriptions', { subscriptions: [{ name: 'few' }] });
  const { stream_id: id } = await ask('GET', 'get_stream_id', { stream: 'few' });
  await ask('POST', 'register', { fetch_event_types: [] });
  const send = (content: string) =>
    ask('POST', 'messages', { type: 'channel', to: id, topic: 'bench', content });
  const { id: messageId } = await send('hello');
  return {
    send: () => send('hello'),
    edit: (round) => ask('PATCH', `messages/${messageId}`, { content: `hello ${round}` }),
    channel: (round) => ask('PATCH', `streams/${id}`, { description: `text ${round}` }),
  };
}

/** Returns the CPU time of `act`, in milliseconds. */
async function processorTime(act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
