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
