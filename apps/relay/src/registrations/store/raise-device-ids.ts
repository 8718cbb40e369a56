import type { Clock } from '@waxwing/service/lifecycle';
import { raiseIdCounter } from '@waxwing/storage';
import type { RelayDatabase } from '../../tables.js';

/** Enough for 256,000 registrations per second. No relay sustains this rate between two starts. */
const idsPerMillisecond = 256;
/**
 * Upper bound for raising the counter, reached in the year 2527. The same number of ids remains above it, so that a
 * clock that was once far ahead cannot exhaust the ids.
 */
const highestFloor = 2 ** 52;

/**
 * Prevents a restored database from reusing device ids. A restore resets the id counter, but servers keep the ids that
 * they stored: a new phone could get an id that a server has stored for another phone. Each start therefore raises the
 * counter to the current time. Earlier ids are lower, unless more than {@link idsPerMillisecond} devices registered per
 * millisecond since the previous start. Unlike random ids, these ids are ordered, so that new rows are adjacent on
 * disk. They have 15 digits, which JSON represents exactly.
 *
 * If a clock was once ahead, the counter stays ahead until time has caught up. Until then, a restore may reuse ids, and
 * only the account distinguishes the devices.
 */
export async function raiseDeviceIds(database: RelayDatabase, clock: Clock): Promise<void> {
  await raiseIdCounter(database, 'relay_devices', Math.min(clock() * idsPerMillisecond, highestFloor));
}
