import { fileURLToPath } from 'node:url';
import { pageFolder as builtPage } from '@waxwing/dashboard';
import type { BoundOperation, Readiness } from '@waxwing/service/http';
import type { Closers } from '@waxwing/service/lifecycle';
import type { RelayConfiguration } from '../configuration.js';
import type { RelayContext } from '../context.js';
import type { OpenKeyRing } from '../keyring/open-key-ring.js';
import { ServerQuotas } from '../servers/server-quotas.js';
import { AdminSessions } from './admin-sessions.js';
import { AdminToken } from './admin-token.js';
import type { DashboardConfiguration } from './dashboard-configuration.js';
import { bindDashboardOperations } from './dashboard-operations.js';
import { EventStreams } from './events/event-streams.js';
import { readOverview } from './overview/overview.js';
import { loadPageFiles } from './page-files.js';
import { signInsPerMinuteAndAddress } from './session-operations.js';

const minutesOfEvents = 60;

export interface OpenDashboardOptions {
  readonly relay: RelayContext;
  readonly admin: OpenKeyRing['admin'];
  readonly keyRing: OpenKeyRing['keyRing'];
  readonly readiness: Readiness;
  readonly configuration: Pick<RelayConfiguration, 'deliveries'>;
  /** Default: the built page of `@waxwing/dashboard`. */
  readonly pageFolder?: string | undefined;
}

/** The dashboard's operations for each port; none if it is off. */
export interface DashboardPorts {
  readonly main: readonly BoundOperation[];
  readonly metrics: readonly BoundOperation[];
}

/**
 * Opens the dashboard, unless it is off.
 * @throws ConfigurationError if the token file is unusable.
 */
export async function openDashboard(
  dashboard: DashboardConfiguration,
  { pageFolder = fileURLToPath(builtPage), configuration, ...parts }: OpenDashboardOptions,
  closers: Closers,
): Promise<DashboardPorts> {
  if (dashboard.kind === 'off') return { main: [], metrics: [] };
  const { clock, log } = parts.relay;
  const token = await AdminToken.open(dashboard.tokenFile);
  const sessions = new AdminSessions({ token, clock, log });
  closers.push(async () => sessions.endAll());
  const context = { ...parts, deliveries: configuration.deliveries, log, startedAt: clock(), sessions };
  const read = () => readOverview(context, minutesOfEvents);
  const operations = bindDashboardOperations({
    ...context,
    streams: new EventStreams({ sessions, log, read }),
    signInQuotas: new ServerQuotas(signInsPerMinuteAndAddress, clock),
    pageFiles: await loadPageFiles(pageFolder),
  });
  return dashboard.port === 'main' ? { main: operations, metrics: [] } : { main: [], metrics: operations };
}
