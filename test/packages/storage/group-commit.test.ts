import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { sqliteBackend } from '../../support/test-databases.js';

const backend = sqliteBackend();
afterEach(() => void vi.restoreAllMocks());

it('commits writes of the same event-loop tick together, and waits one more tick for others', async () => {
  const database = await backend.open({ migrations: [] });
  const begun: string[] = [];
  const begin = (name: string) => async () => void begun.push(name);

  // The turn is asked for first, so that it comes before any that a write asks for.
  let turn = nextTurn().then(() => [...begun]);
  const alone = database.write(begin('alone'));
  expect(await turn).toEqual([]);
  await alone;

  turn = nextTurn().then(() => [...begun]);
  const gathered = database.writeBatched(begin('gathered'));
  expect(await turn).toEqual(['alone', 'gathered']);
  await gathered;
});

/** In how many commits writes end after a first one; each turn brings some, gathered or not, and takes so long. */
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

it('does not wait for long, even if each tick brings more writes', async () => {
  const turns = Array<boolean[]>(8).fill([false]);
  expect(await commitsOf(turns, 6)).toBeGreaterThan(1);
});
