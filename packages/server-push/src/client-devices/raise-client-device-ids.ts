import type { Clock } from '@waxwing/service/lifecycle';
import { type Database, raiseIdCounter } from '@waxwing/storage';
import type { ServerPushTables } from '../tables.js';

/** 256,000 devices a second: no server creates as many between two starts. */
const idsPerMillisecond = 256;
/** Leaves as many ids again above it, so that a clock that was once far ahead cannot exhaust them. */
const highestFloor = 2 ** 52;

/**
 * Prevents a restored database from giving a device id to another phone: a phone keeps its id, and would otherwise find
 * another phone's state under it. Each start raises the counter to the current time. JSON holds the ids without rounding.
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
