import type { HttpLimits } from '@waxwing/service/http-settings';

/** Returns these limits with load shedding disabled, because on a slow machine concurrent requests would trigger it. */
export function withoutOverload(limits: HttpLimits): HttpLimits {
  return { ...limits, backlogMilliseconds: 600_000 };
}
