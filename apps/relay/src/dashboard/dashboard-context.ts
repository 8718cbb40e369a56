import type { Readiness } from '@waxwing/service/http';
import type { RelayContext } from '../context.js';
import type { DeliveriesConfiguration } from '../deliveries/deliveries-configuration.js';
import type { OpenKeyRing } from '../keyring/open-key-ring.js';
import type { ServerQuotas } from '../servers/server-quotas.js';
import type { AdminSessions } from './admin-sessions.js';
import type { EventStreams } from './events/event-streams.js';
import type { PageFiles } from './page-files.js';

/** Dependencies of the dashboard's operations. */
export interface DashboardContext {
  readonly relay: RelayContext;
  readonly admin: OpenKeyRing['admin'];
  readonly readiness: Readiness;
  readonly keyRing: Pick<OpenKeyRing['keyRing'], 'describe' | 'publishedKeyList'>;
  readonly deliveries: DeliveriesConfiguration;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly log: RelayContext['log'];
  readonly sessions: AdminSessions;
  /** By client address. */
  readonly signInQuotas: Pick<ServerQuotas, 'take'>;
  readonly pageFiles: PageFiles;
  readonly streams: Pick<EventStreams, 'open'>;
}
