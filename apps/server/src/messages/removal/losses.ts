import type { UserId } from '@waxwing/protocol';
import { gatheredBy } from '../../permissions/gathered-by.js';

/** Messages, and those who can see them no more. */
export interface Loss {
  /** In ascending order. */
  readonly ids: readonly number[];
  readonly audience: readonly UserId[];
}

/** Brings users together who lose the same messages. */
export function groupLosses(copies: ReadonlyMap<UserId, readonly number[]>): Loss[] {
  return [...gatheredBy([...copies], ([, ids]) => ids.join()).values()].map((same) => ({
    ids: same[0]?.[1] ?? [],
    audience: same.map(([userId]) => userId),
  }));
}
