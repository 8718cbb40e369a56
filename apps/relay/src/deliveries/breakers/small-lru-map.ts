import { LRUCache } from 'lru-cache';

/**
 * A bounded map of which there may be one for each app or realm: it takes room as it fills. With `max` alone an LRUCache
 * takes the room of all its entries at once.
 */
export function smallLruMap<Key extends {}, Value extends {}>(
  maximumEntries: number,
  onForgotten: (key: Key) => void = () => undefined,
): LRUCache<Key, Value> {
  return new LRUCache({
    maxSize: maximumEntries,
    sizeCalculation: () => 1,
    dispose: (_value, key, reason) => {
      if (reason === 'evict') onForgotten(key);
    },
  });
}
