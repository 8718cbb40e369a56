/** Aborted when any signal of the group is. Usually all share one signal. `undefined` if the group has none. */
export function signalOfAll<Signal extends AbortSignal | undefined>(
  group: readonly { readonly signal: Signal }[],
): Signal {
  const [one, ...others] = new Set(group.flatMap(({ signal }) => signal ?? []));
  return (one === undefined || others.length === 0 ? one : AbortSignal.any([one, ...others])) as Signal;
}
