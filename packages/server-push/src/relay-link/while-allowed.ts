/** What is under way for each signal, which has one listener for all of it: Node warns of more than ten. */
const underWay = new WeakMap<AbortSignal, Set<AbortController>>();

/**
 * Does work that is to end when `signal` is aborted, or with a TimeoutError when it takes longer. Nothing of it stays
 * afterwards: of a signal that is made of others Node keeps a trace for as long as they live.
 */
export async function whileAllowed<Result>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  work: (allowed: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(tookTooLong()), milliseconds).unref();
  const others = signal && endingWith(signal);
  others?.add(ending);
  if (signal?.aborted) ending.abort(signal.reason);
  try {
    return await work(ending.signal);
  } finally {
    clearTimeout(timer);
    others?.delete(ending);
  }
}

function endingWith(signal: AbortSignal): Set<AbortController> {
  const known = underWay.get(signal);
  if (known !== undefined) return known;
  const all = new Set<AbortController>();
  const endAll = (): void => {
    for (const ending of all) ending.abort(signal.reason);
  };
  signal.addEventListener('abort', endAll, { once: true });
  underWay.set(signal, all);
  return all;
}

function tookTooLong(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}
