import type { Clock } from '@waxwing/service/lifecycle';
import { raiseIdCounter } from '@waxwing/storage';
import type { RelayDatabase } from '../../tables.js';

/** 256,000 registrations a second; no relay sustains this rate between two starts. */
const idsPerMillisecond = 256;
/**
 * Reached in the year 2527. The same number of ids remains above it, so that a clock that was once far ahead cannot
 * exhaust them.
 */
const highestFloor = 2 ** 52;

/**
 * Prevents a restored database from reusing device ids. Servers store these ids, and a restore resets the counter: the
 * next phone would get an id that a server knows as another phone's. Each start therefore raises the counter to the
 * current time. Earlier ids are lower if fewer than {@link idsPerMillisecond} devices registered per millisecond since
 * the previous start. Unlike random ids, these stay ordered, so that new rows are adjacent on disk. They have 15
 * digits, which JSON represents exactly.
 *
 * If a clock was once ahead, the counter stays there until the time has caught up. Until then a restore may reuse ids,
 * and only the account distinguishes the devices.
 */
export async function raiseDeviceIds(database: RelayDatabase, clock: Clock): Promise<void> {
  await raiseIdCounter(database, 'relay_devices', Math.min(clock() * idsPerMillisecond, highestFloor));
}
