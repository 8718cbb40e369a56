import { z } from 'zod';
import type { ReadinessStates } from '../http/index.js';

/** Result of one check on the overview. A failed check has a cause and a remedy. */
export const dashboardCheck = z.object({
  name: z.string(),
  ok: z.boolean(),
  cause: z.string().optional(),
  remedy: z.string().optional(),
});

export type DashboardCheck = z.infer<typeof dashboardCheck>;

export function failedCheck(name: string, cause: string, remedy: string): DashboardCheck {
  return { name, ok: false, cause, remedy };
}

/**
 * Converts readiness checks to dashboard checks. `remedies` contains a sentence for each check name. For other checks,
 * the remedy is to read the log.
 */
export function readinessChecks(
  states: ReadinessStates,
  remedies: Readonly<Record<string, string>>,
): DashboardCheck[] {
  return Object.entries(states).map(([name, state]) => {
    if (state === undefined) return { name, ok: true };
    const cause = typeof state === 'string' ? state : state.warning;
    return failedCheck(name, cause, remedies[name] ?? 'Read the log of this program.');
  });
}

/** Sorts failed checks before passed checks. */
export function failedFirst(checks: readonly DashboardCheck[]): DashboardCheck[] {
  return [...checks.filter(({ ok }) => !ok), ...checks.filter(({ ok }) => ok)];
}
