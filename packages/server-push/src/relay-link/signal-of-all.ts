/**
 * Returns a signal that is aborted when any signal of the group is. Usually all requests share one signal. `undefined`
 * if no request has a signal.
 */
export function signalOfAll<Signal extends AbortSignal | undefined>(
  group: readonly { readonly signal: Signal }[],
): Signal {
  const [one, ...others] = new Set(group.flatMap(({ signal }) => signal ?? []));
  return (one === undefined || others.length === 0 ? one : AbortSignal.any([one, ...others])) as Signal;
}
