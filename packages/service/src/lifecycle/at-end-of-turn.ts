const waiting = new Set<() => void>();
const looking = new Set<() => void>();

/**
 * Acts at the end of this turn of the event loop, so that what it brings can be done together; with {@link endTurn},
 * earlier.
 */
export function atEndOfTurn(act: () => void): void {
  const once = (): void => {
    if (waiting.delete(once)) act();
  };
  waiting.add(once);
  setImmediate(once);
}

/**
 * Looks, each time a turn is ended early, for what has come from outside and would be told of only when the event loop gets
 * there. Returns what stops that.
 */
export function lookAtEarlyEnds(look: () => void): () => void {
  looking.add(look);
  return () => void looking.delete(look);
}

/** Has everything act as if this turn of the event loop were over, as it should be where it has lasted for long. */
export function endTurn(): void {
  for (const look of looking) look();
  for (const once of [...waiting]) once();
}
