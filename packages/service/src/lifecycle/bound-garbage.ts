import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** A process that falls behind then takes less than twice the memory that it takes at rest. */
const garbagePercent = 150;
/** Of a smaller heap V8 lets less be garbage by itself. */
const largeHeapBytes = 2 ** 31;

/**
 * Has this process collect garbage once there is one and a half times as much as what is in use. On machines with much
 * memory V8 waits until there is three times as much. Requests that wait for their turn, or for a commit, outlive the
 * collections of young garbage, so that a process that falls behind would come to that within seconds.
 */
export function boundGarbage(): void {
  if (getHeapStatistics().heap_size_limit < largeHeapBytes) return;
  // V8 looks at it after each collection, so that it may be set at any time.
  setFlagsFromString(`--heap-growing-percent=${garbagePercent}`);
}
