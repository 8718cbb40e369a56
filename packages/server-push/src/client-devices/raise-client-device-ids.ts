import type { Clock } from '@waxwing/service/lifecycle';
import { type Database, raiseIdCounter } from '@waxwing/storage';
import type { ServerPushTables } from '../tables.js';

/** Rate at which the floor rises: 256,000 ids per second, faster than any server creates devices. */
const idsPerMillisecond = 256;
/**
 * Upper limit of the floor. Half of the ids are above it, so that a clock that was once far ahead cannot exhaust them.
 */
const highestFloor = 2 ** 52;

/**
 * Prevents a restored database from assigning the same device id twice. A phone keeps its device id, so it would see
 * another phone's state under that id. Each start raises the id counter to a number derived from the current time. The
 * ids fit into JSON numbers without rounding.
 *
 * @throws DatabaseUnusableError if the database user may not set the counter.
 */
export async function raiseClientDeviceIds<Tables extends ServerPushTables>(
  database: Pick<Database<Tables>, 'write'>,
  clock: Clock,
): Promise<void> {
  const floor = Math.min(clock() * idsPerMillisecond, highestFloor);
  await raiseIdCounter<Tables>(database, 'client_devices', floor);
}
