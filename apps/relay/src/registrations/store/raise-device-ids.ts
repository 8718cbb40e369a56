import type { Clock } from '@waxwing/service/lifecycle';
import { raiseIdCounter } from '@waxwing/storage';
import type { RelayDatabase } from '../../tables.js';

/** No relay keeps up this rate from one start to the next: 256,000 registrations a second. */
const idsPerMillisecond = 256;
/** Reached in the year 2527. Leaves as many ids again, so that a clock that was far ahead once uses up none. */
const highestFloor = 2 ** 52;

/**
 * Keeps a restored database from handing out ids again. Servers store the ids of devices, and a restore takes the counter
 * back: the next phone would get an id that a server knows as another phone's. So each start lets the counter go on from the
 * time: what was handed out before lies below, as long as fewer than {@link idsPerMillisecond} devices registered in each
 * millisecond since the start before. Unlike random ids, these stay in order, so that new rows are next to each other on the
 * disk, and of 15 digits, which JSON holds without rounding.
 *
 * Where a clock was ahead once, the counter stays there until the time has caught up. Until then a restore may bring ids
 * back, and the account alone tells devices apart.
 */
export async function raiseDeviceIds(database: RelayDatabase, clock: Clock): Promise<void> {
  await raiseIdCounter(database, 'relay_devices', Math.min(clock() * idsPerMillisecond, highestFloor));
}
