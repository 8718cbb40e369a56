import type { ReadinessWarning } from '@waxwing/service/http';
import type { LiveKeyRing } from './live-key-ring.js';

/**
 * A check of the keys. Resolves to a sentence if the keys are unusable, to a warning for a less severe problem, and
 * otherwise to `undefined`.
 */
export type KeysCheck = () => Promise<string | ReadinessWarning | undefined>;

/**
 * Creates the readiness check `keys`: the ring in use is the stored ring and opens registrations, and all `checks`
 * pass. The result joins one sentence per failed check. It is a warning if all failures are warnings.
 */
export function keysReadiness(
  keyRing: Pick<LiveKeyRing, 'storedProblem' | 'openingProblem'>,
  checks: readonly KeysCheck[] = [],
): KeysCheck {
  return async () => {
    const all = [() => keyRing.storedProblem(), async () => keyRing.openingProblem(), ...checks];
    const found = (await Promise.all(all.map((check) => check()))).filter((each) => each !== undefined);
    if (found.length === 0) return undefined;
    const sentences = found.map((each) => (typeof each === 'string' ? each : each.warning)).join(' ');
    return found.some((each) => typeof each === 'string') ? sentences : { warning: sentences };
  };
}
