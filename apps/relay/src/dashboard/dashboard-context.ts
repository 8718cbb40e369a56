import type { DashboardParts, LastReading } from '@waxwing/service/dashboard';
import type { Readiness } from '@waxwing/service/http';
import type { RelayContext } from '../context.js';
import type { DeliveriesConfiguration } from '../deliveries/deliveries-configuration.js';
import type { OpenKeyRing } from '../keyring/open-key-ring.js';
import type { LoadWatch } from '../readiness/load-watch.js';
import type { StoredFigures } from './overview/stored-figures.js';

/** Dependencies of the dashboard's operations. */
export interface DashboardContext extends DashboardParts {
  readonly relay: RelayContext;
  readonly admin: OpenKeyRing['admin'];
  readonly readiness: Readiness;
  readonly load: Pick<LoadWatch, 'problems'>;
  readonly lastFigures: LastReading<StoredFigures>;
  readonly keyRing: Pick<OpenKeyRing['keyRing'], 'describe' | 'publishedKeyList'>;
  readonly deliveries: DeliveriesConfiguration;
  /** Unix milliseconds. */
  readonly startedAt: number;
}
