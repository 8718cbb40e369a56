import type { HttpLimits } from '@waxwing/service/http-settings';

/** The limits of a program that never refuses because it falls behind, as many requests at once do on a slow machine. */
export function withoutOverload(limits: HttpLimits): HttpLimits {
  return { ...limits, backlogMilliseconds: 600_000 };
}
