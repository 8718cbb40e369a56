/** Work in flight, by signal. Each signal gets only one listener, because Node warns if there are more than ten. */
const underWay = new WeakMap<AbortSignal, Set<AbortController>>();

/**
 * Runs `work` with a signal that aborts when `signal` aborts, or with a TimeoutError after `milliseconds`. Removes its
 * listener afterwards. Signals from `AbortSignal.any` would stay in memory as long as their sources.
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
