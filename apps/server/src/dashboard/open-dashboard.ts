import { fileURLToPath } from 'node:url';
import { serverPageFolder } from '@waxwing/dashboard';
import {
  type DashboardPorts,
  LastReading,
  noDashboard,
  onPort,
  openDashboardParts,
  sharedDashboardOperations,
} from '@waxwing/service/dashboard';
import { bindOperations, type Readiness } from '@waxwing/service/http';
import type { DashboardConfiguration } from '@waxwing/service/http-settings';
import type { Closers } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import type { ServerContext } from '../context.js';
import type { DashboardContext } from './dashboard-context.js';
import { listDeadJobs, retryDeadJob } from './jobs/job-operations.js';
import { CountedRows } from './overview/counted-rows.js';
import { readOverview } from './overview/overview.js';
import { showOverview } from './overview/overview-operation.js';
import { noFigures } from './overview/stored-figures.js';
import { sendPushTest, showPushChecks } from './push/push-operations.js';

export interface OpenDashboardOptions {
  readonly server: ServerContext;
  readonly settings: DashboardContext['settings'];
  readonly sodium: Sodium;
  readonly readiness: Readiness;
  /** Default: the built page of `@waxwing/dashboard`. */
  readonly pageFolder?: string | undefined;
}

/** All operations of the dashboard. Only the dashboard's page may call them. */
const dashboardOperations = [
  ...sharedDashboardOperations,
  showOverview,
  showPushChecks,
  sendPushTest,
  listDeadJobs,
  retryDeadJob,
];

/**
 * Opens the dashboard if it is enabled.
 * @throws ConfigurationError if the token file is unusable.
 */
export async function openDashboard(
  dashboard: DashboardConfiguration,
  { pageFolder = fileURLToPath(serverPageFolder), ...parts }: OpenDashboardOptions,
  closers: Closers,
): Promise<DashboardPorts> {
  if (dashboard.kind === 'off') return noDashboard;
  const { clock, log, database } = parts.server;
  const countedRows = new CountedRows(database, clock);
  const overviewParts = { ...parts, countedRows, lastFigures: new LastReading(noFigures) };
  const { tokenFile } = dashboard;
  const read = () => readOverview(overviewParts);
  const shared = await openDashboardParts({ clock, log, tokenFile, pageFolder, read }, closers);
  const context: DashboardContext = { ...overviewParts, ...shared };
  return onPort(dashboard, bindOperations(context, dashboardOperations));
}
