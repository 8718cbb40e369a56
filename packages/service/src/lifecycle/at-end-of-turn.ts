let waiting: (() => void)[] = [];

/**
 * Acts, which must not throw, at the end of this turn of the event loop, so that what it brings can be done together; with
 * {@link endTurn}, earlier.
 */
export function atEndOfTurn(act: () => void): void {
  if (waiting.length === 0) setImmediate(endTurn);
  waiting.push(act);
}

/** Acts as if this turn of the event loop were over, as it should be where it has lasted for long. */
export function endTurn(): void {
  const acts = waiting;
  waiting = [];
  for (const act of acts) act();
}
