const scheduled = new Set<() => void>();
const earlyEndListeners = new Set<() => void>();

/** Calls `act` at the end of this event-loop tick, or earlier if {@link endTick} is called. Used for batching. */
export function atEndOfTick(act: () => void): void {
  const once = (): void => {
    if (scheduled.delete(once)) act();
  };
  scheduled.add(once);
  setImmediate(once);
}

/**
 * Calls `listener` before a tick is ended early. The listener can then poll for messages that the event loop has not
 * delivered yet. Returns a function that unsubscribes the listener.
 */
export function onEarlyTickEnd(listener: () => void): () => void {
  earlyEndListeners.add(listener);
  return () => void earlyEndListeners.delete(listener);
}

/**
 * Ends this tick early: runs everything scheduled with {@link atEndOfTick}. Call this in a tick that has lasted too
 * long.
 */
export function endTick(): void {
  for (const listener of earlyEndListeners) listener();
  for (const once of [...scheduled]) once();
}
