import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/**
 * Maximum garbage in percent of the memory in use. Keeps an overloaded process below twice the memory of an idle one.
 */
const garbagePercent = 150;
/** V8 collects smaller heaps earlier on its own. */
const largeHeapBytes = 2 ** 31;

/**
 * Limits garbage to 1.5 times the memory in use (a heap growing factor of 2.5). On machines with a lot of memory, V8
 * allows 3 times the memory in use (a factor of 4). Requests that are queued or waiting for a commit survive
 * young-generation collections, so an overloaded process would reach V8's limit within seconds.
 */
export function boundGarbage(): void {
  if (getHeapStatistics().heap_size_limit < largeHeapBytes) return;
  // V8 reads the flag after each collection, so it can be set at any time.
  setFlagsFromString(`--heap-growing-percent=${garbagePercent}`);
}
