import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { sqliteBackend } from '../../support/test-databases.js';

const backend = sqliteBackend();

it('begins what was gathered already in the same turn of the event loop, and waits one turn for all else', async () => {
  const database = await backend.open({ migrations: [] });
  const begun: string[] = [];
  const begin = (name: string) => async () => void begun.push(name);

  // The turn is asked for first, so that it comes before any that a write asks for.
  let turn = nextTurn().then(() => [...begun]);
  const alone = database.write(begin('alone'));
  expect(await turn).toEqual([]);
  await alone;

  turn = nextTurn().then(() => [...begun]);
  const gathered = database.writeGathered(begin('gathered'));
  expect(await turn).toEqual(['alone', 'gathered']);
  await gathered;
});

/** What begins after a first commit, and which commits it shares: of each turn a list of writes, gathered ones or not. */
async function commitsOf(turns: readonly (readonly boolean[])[], blockedMilliseconds = 0): Promise<number> {
  const database = await backend.open({ migrations: [] });
  await database.write(async () => undefined);
  const writes: Promise<unknown>[] = [];
  for (const turn of turns) {
    for (const isGathered of turn) {
      const write = isGathered ? database.writeGathered : database.write;
      writes.push(write(async ({ db }) => db));
    }
    const until = performance.now() + blockedMilliseconds;
    while (performance.now() < until);
    await nextTurn();
  }
  return new Set(await Promise.all(writes)).size;
}

it('waits for as long as each turn brings more, gathered or not, and commits all of it together', async () => {
  const twenty = Array<boolean>(20).fill(false);
  expect(await commitsOf([[false], [true], [false], [true]])).toBe(1);
  expect(await commitsOf([twenty, twenty, [false]])).toBe(1);
});

it('does not wait for long, though each turn brings more', async () => {
  const turns = Array<boolean[]>(8).fill([false]);
  expect(await commitsOf(turns, 6)).toBeGreaterThan(1);
});
