import type { DashboardParts, LastReading } from '@waxwing/service/dashboard';
import type { Readiness } from '@waxwing/service/http';
import type { Sodium } from '@waxwing/sodium';
import type { ServerConfiguration } from '../configuration.js';
import type { ServerContext } from '../context.js';
import type { CountedRows } from './overview/counted-rows.js';
import type { StoredFigures } from './overview/stored-figures.js';

/** Dependencies of the dashboard's operations. */
export interface DashboardContext extends DashboardParts {
  readonly server: ServerContext;
  readonly settings: Pick<ServerConfiguration, 'relay' | 'pushAccount' | 'relayNetwork'>;
  readonly sodium: Sodium;
  readonly readiness: Readiness;
  readonly countedRows: CountedRows;
  readonly lastFigures: LastReading<StoredFigures>;
}
