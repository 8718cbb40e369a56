import type { LiveKeyRing } from './live-key-ring.js';

/** Returns a sentence that says what is wrong with the keys, or `undefined`. */
export type KeysCheck = () => Promise<string | undefined>;

/**
 * Readiness check `keys` of a relay: the stored ring is the one in use, it opens registrations, and all `checks` pass.
 * Runs every check; the answer has one sentence per failed check.
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
