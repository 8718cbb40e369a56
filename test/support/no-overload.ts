import type { HttpLimits } from '@waxwing/service/http-settings';

/** Limits without load shedding, because concurrent requests would trigger it on a slow machine. */
export function withoutOverload(limits: HttpLimits): HttpLimits {
  return { ...limits, backlogMilliseconds: 600_000 };
}
