import type { LiveKeyRing } from './live-key-ring.js';

/** Answers `undefined`, or a sentence that says what is wrong with the keys. */
export type KeysCheck = () => Promise<string | undefined>;

/**
 * The `keys` check of a relay's readiness: that the ring which is stored is the one in use, that it opens registrations,
 * and whatever else `checks` ask. All of them are asked; the answer has a sentence for each that is not well.
 */
export function keysReadiness(
  keyRing: Pick<LiveKeyRing, 'storedProblem' | 'openingProblem'>,
  checks: readonly KeysCheck[] = [],
): KeysCheck {
  return async () => {
    const all = [() => keyRing.storedProblem(), async () => keyRing.openingProblem(), ...checks];
    const problems = await Promise.all(all.map((check) => check()));
    return problems.filter((problem) => problem !== undefined).join(' ') || undefined;
  };
}
