/** Remembers which notifications the phone has opened, so that a vendor or relay cannot show one twice. */
export interface SeenNotifications {
  /** Remembers the notification; `false` when it was remembered already. */
  addIfNew(notification: string): Promise<boolean>;
}

const defaultCapacity = 2000;

/** The last `capacity` notifications, in memory. An app keeps them on disk, since it is started for each notification. */
export function createMemorySeenNotifications(capacity: number = defaultCapacity): SeenNotifications {
  const seen = new Set<string>();
  return {
    async addIfNew(notification) {
      if (seen.has(notification)) return false;
      seen.add(notification);
      // A Set keeps the order of insertion: the first is the oldest.
      for (const oldest of seen) {
        if (seen.size <= capacity) break;
        seen.delete(oldest);
      }
      return true;
    },
  };
}
