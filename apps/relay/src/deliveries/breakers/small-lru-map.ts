import { LRUCache } from 'lru-cache';

/**
 * Creates an LRU map that allocates as it fills. Use it for maps that exist per app or realm, because LRUCache with
 * `max` allocates all entries up front.
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
