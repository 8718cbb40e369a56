import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, expect, it, vi } from 'vitest';
import { sqliteBackend } from '../../support/test-databases.js';

const backend = sqliteBackend();
afterEach(() => void vi.restoreAllMocks());

it('commits writes in the same event-loop tick together, and waits one more tick for further writes', async () => {
  const database = await backend.open({ migrations: [] });
  const begun: string[] = [];
  const begin = (name: string) => async () => void begun.push(name);

  // Requests the tick first, so that it precedes any tick that a write requests.
  let turn = nextTurn().then(() => [...begun]);
  const alone = database.write(begin('alone'));
  expect(await turn).toEqual([]);
  await alone;

  turn = nextTurn().then(() => [...begun]);
  const gathered = database.writeBatched(begin('gathered'));
  expect(await turn).toEqual(['alone', 'gathered']);
  await gathered;
});

it('runs writes that need locks before the other writes in a batch, each kind in order', async () => {
  const database = await backend.open({ migrations: [] });
  const begun: string[] = [];
  const transactions = new Set<unknown>();
  const begin =
    (name: string) =>
    async ({ db }: { db: unknown }) => {
      begun.push(name);
      transactions.add(db);
    };
  await Promise.all([
    database.write(begin('rows')),
    database.writeFirst(begin('lock')),
    database.writeBatched(begin('more rows')),
    database.writeFirst(begin('second lock')),
  ]);
  expect(begun).toEqual(['lock', 'second lock', 'rows', 'more rows']);
  expect(transactions.size).toBe(1);
});

/**
 * Starts one write, and then more writes in each tick, batched or not. Each tick takes `turnMilliseconds`. Returns the
 * number of commits that contain the later writes.
 */
async function commitsOf(turns: readonly (readonly boolean[])[], turnMilliseconds: number): Promise<number> {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const database = await backend.open({ migrations: [] });
  await database.write(async () => undefined);
  const writes: Promise<unknown>[] = [];
  for (const turn of turns) {
    for (const isBatched of turn) {
      const write = isBatched ? database.writeBatched : database.write;
      writes.push(write(async ({ db }) => db));
    }
    now += turnMilliseconds;
    await nextTurn();
  }
  return new Set(await Promise.all(writes)).size;
}

it('waits while each tick brings more writes, and commits them together', async () => {
  const twenty = Array<boolean>(20).fill(false);
  expect(await commitsOf([[false], [true], [false], [true]], 0)).toBe(1);
  expect(await commitsOf([twenty, twenty, [false]], 0)).toBe(1);
});

it('does not wait long, even if each tick brings more writes', async () => {
  const turns = Array<boolean[]>(8).fill([false]);
  expect(await commitsOf(turns, 6)).toBeGreaterThan(1);
});

it('ends a group on SQLite whose writes take 150 ms, and keeps their order', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const database = await backend.open({ migrations: [] });
  const order: number[] = [];
  const writes = Array.from({ length: 7 }, (_, index) =>
    database.write(async ({ db }) => {
      order.push(index);
      now += 60;
      return db;
    }),
  );
  const commits = await Promise.all(writes);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(new Set(commits).size).toBe(3);
  expect(new Set(commits.slice(0, 3)).size).toBe(1);
});

it.each([
  ['a long transaction', 'writeSingle', 10],
  ['any other transaction', 'write', 50],
] as const)(
  'lets other work run between two statements of %s on SQLite: %s after %i ms',
  async (_what, how, most) => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const database = await backend.open({ migrations: [] });
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const turnsBetween = async (milliseconds: number): Promise<number> => {
      let passed = 0;
      await database[how](async ({ db }) => {
        await sql`select 1`.execute(db);
        const before = turns;
        now += milliseconds;
        await sql`select 1`.execute(db);
        passed = turns - before;
      });
      return passed;
    };
    expect(await turnsBetween(most)).toBe(0);
    expect(await turnsBetween(most + 1)).toBeGreaterThan(0);
    isOver = true;
  },
);

it('lets other writes run on SQLite between two slow writes for as long as they waited', async () => {
  const database = await backend.open({ migrations: [] });
  const order: string[] = [];
  const add = async (name: string) => void order.push(name);
  let waiting = Promise.resolve();
  const slow = database.writeSingle(async () => {
    await add('slow');
    waiting = database.write(() => add('waiting'));
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 800);
  });
  const next = database.writeSingle(() => add('next slow'));
  await slow;
  await waiting;
  for (const name of ['second', 'third', 'fourth']) await database.write(() => add(name));
  await next;
  expect(order).toEqual(['slow', 'waiting', 'second', 'third', 'fourth', 'next slow']);
});

it.each(['outside a transaction', 'of a snapshot'])(
  'lets other work run between two reads %s on SQLite after blocking it for 10 ms',
  async (where) => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const { db } = await backend.open({ migrations: [] });
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const turnsBetween = async (reader: typeof db, milliseconds: number): Promise<number> => {
      // Starts in a new tick of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      await sql`select 1`.execute(reader);
      const before = turns;
      now += milliseconds;
      await sql`select 1`.execute(reader);
      return turns - before;
    };
    const measure = async (reader: typeof db) => [
      await turnsBetween(reader, 10),
      await turnsBetween(reader, 11),
    ];
    const [short, long] =
      where === 'of a snapshot'
        ? await db.transaction().setAccessMode('read only').execute(measure)
        : await measure(db);
    expect(short).toBe(0);
    expect(long).toBeGreaterThan(0);
    isOver = true;
  },
);
