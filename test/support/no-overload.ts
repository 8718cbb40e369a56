import type { HttpLimits } from '@waxwing/service/http-settings';

/** Limits without load shedding, which concurrent requests would trigger on a slow machine. */
export function withoutOverload(limits: HttpLimits): HttpLimits {
  return { ...limits, backlogMilliseconds: 600_000 };
}
