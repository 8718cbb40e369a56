import type { BoundOperation } from '../http/index.js';
import type { DashboardConfiguration } from '../http-settings/index.js';

/** The dashboard's operations for each port; empty if the dashboard is off. */
export interface DashboardPorts {
  readonly main: readonly BoundOperation[];
  readonly metrics: readonly BoundOperation[];
}

export const noDashboard: DashboardPorts = { main: [], metrics: [] };

/** Assigns the operations to the configured port. */
export function onPort(
  { port }: Extract<DashboardConfiguration, { kind: 'on' }>,
  operations: readonly BoundOperation[],
): DashboardPorts {
  return { ...noDashboard, [port]: operations };
}
