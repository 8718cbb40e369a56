const waiting = new Set<() => void>();

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

/** Has everything act as if this turn of the event loop were over, as it should be where it has lasted for long. */
export function endTurn(): void {
  for (const once of [...waiting]) once();
}
