import { fileURLToPath } from 'node:url';
import { pageFolder as builtPage } from '@waxwing/dashboard';
import {
  type DashboardPorts,
  LastReading,
  noDashboard,
  onPort,
  openDashboardParts,
} from '@waxwing/service/dashboard';
import type { Readiness } from '@waxwing/service/http';
import type { DashboardConfiguration } from '@waxwing/service/http-settings';
import type { Closers } from '@waxwing/service/lifecycle';
import type { RelayConfiguration } from '../configuration.js';
import type { RelayContext } from '../context.js';
import type { OpenKeyRing } from '../keyring/open-key-ring.js';
import type { LoadWatch } from '../readiness/load-watch.js';
import { bindDashboardOperations } from './dashboard-operations.js';
import { readOverview } from './overview/overview.js';
import { noFigures } from './overview/stored-figures.js';

const minutesOfEvents = 60;

export interface OpenDashboardOptions {
  readonly relay: RelayContext;
  readonly admin: OpenKeyRing['admin'];
  readonly keyRing: OpenKeyRing['keyRing'];
  readonly readiness: Readiness;
  readonly load: LoadWatch;
  readonly configuration: Pick<RelayConfiguration, 'deliveries'>;
  /** Default: the built page of `@waxwing/dashboard`. */
  readonly pageFolder?: string | undefined;
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
  if (dashboard.kind === 'off') return noDashboard;
  const { clock, log } = parts.relay;
  const lastFigures = new LastReading(noFigures);
  const context = { ...parts, lastFigures, deliveries: configuration.deliveries, startedAt: clock() };
  const { tokenFile } = dashboard;
  const read = () => readOverview(context, minutesOfEvents);
  const shared = await openDashboardParts({ clock, log, tokenFile, pageFolder, read }, closers);
  return onPort(dashboard, bindDashboardOperations({ ...context, ...shared }));
}
