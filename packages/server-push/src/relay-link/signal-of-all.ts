/**
 * Returns a signal that aborts when any signal in the group aborts, or `undefined` if no request has a signal. Usually
 * all requests share one signal.
 */
export function signalOfAll<Signal extends AbortSignal | undefined>(
  group: readonly { readonly signal: Signal }[],
): Signal {
  const [one, ...others] = new Set(group.flatMap(({ signal }) => signal ?? []));
  return (one === undefined || others.length === 0 ? one : AbortSignal.any([one, ...others])) as Signal;
}
