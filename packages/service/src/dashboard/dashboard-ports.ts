import type { BoundOperation } from '../http/index.js';
import type { DashboardConfiguration } from '../http-settings/index.js';

/** The dashboard's operations for each port; none if it is off. */
export interface DashboardPorts {
  readonly main: readonly BoundOperation[];
  readonly metrics: readonly BoundOperation[];
}

export const noDashboard: DashboardPorts = { main: [], metrics: [] };

/** Offers the operations on the configured port. */
export function onPort(
  { port }: Extract<DashboardConfiguration, { kind: 'on' }>,
  operations: readonly BoundOperation[],
): DashboardPorts {
  return { ...noDashboard, [port]: operations };
}
