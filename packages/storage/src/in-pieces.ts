import type { Kysely } from 'kysely';
import { isPostgres } from './is-postgres.js';

const smallest = 32;
const largest = 1000;
const targetMilliseconds = 10;

/**
 * Passes a list to `act` in consecutive pieces, for statements of a long transaction. SQLite runs statements on the
 * event loop, so each piece is sized to take about 10 ms (32 to 1000 items). PostgreSQL gets the whole list at once,
 * because its statements do not block the event loop. `act` is not called for an empty list.
 */
export async function inPieces<Tables, Item>(
  db: Kysely<Tables>,
  items: readonly Item[],
  act: (piece: readonly Item[]) => Promise<void>,
): Promise<void> {
  let size = isPostgres(db) ? items.length : smallest;
  for (let start = 0; start < items.length; ) {
    const piece = items.slice(start, start + size);
    start += piece.length;
    const begun = performance.now();
    await act(piece);
    const isSlow = performance.now() - begun > targetMilliseconds;
    size = isSlow ? Math.max(smallest, Math.floor(size / 2)) : Math.min(largest, size * 2);
  }
}
