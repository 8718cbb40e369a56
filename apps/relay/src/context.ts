import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import type { Sodium } from '@waxwing/sodium';
import type { MinuteCounts } from './dashboard/minutes/minute-counts.js';
import type { Deliveries } from './deliveries/create-deliveries.js';
import type { KeyListContext } from './keyring/list/key-list-operation.js';
import type { PlaintextDevices } from './plaintext/plaintext-devices.js';
import type { RecentDeliveries } from './readiness/recent-deliveries.js';
import type { RegistrationBatches } from './registrations/opening/registration-batches.js';
import type { RegistrationKeys } from './registrations/opening/registration-keys.js';
import type { Revocations } from './registrations/store/revocations.js';
import type { TokenVault } from './registrations/store/token-vault.js';
import type { DeviceGauge } from './servers/device-counts.js';
import type { Joining } from './servers/joining/joining.js';
import type { ServerActivity } from './servers/server-activity.js';
import type { ServerDirectory } from './servers/server-directory.js';
import type { ServerQuotas } from './servers/server-quotas.js';
import type { ReportedCounts } from './servers/stock/reported-counts.js';
import type { RelayDatabase } from './tables.js';

/** Dependencies of the relay's operations, created once at startup. */
export interface RelayContext {
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly sodium: Sodium;
  readonly database: RelayDatabase;
  readonly servers: ServerDirectory;
  readonly activity: ServerActivity;
  readonly keyRing: RegistrationKeys & KeyListContext['keyRing'];
  readonly tokenVault: TokenVault;
  readonly deliveries: Deliveries;
  readonly registrations: RegistrationBatches;
  readonly quotas: Pick<ServerQuotas, 'take' | 'takeAll' | 'busiest'>;
  /** Quotas for revocations that phones send, keyed by address. */
  readonly revocationQuotas: Pick<ServerQuotas, 'take'>;
  readonly revocations: Revocations;
  readonly plaintextDevices: PlaintextDevices;
  readonly reportedCounts: ReportedCounts;
  readonly joining: Joining;
  readonly minuteCounts: MinuteCounts;
  readonly recentDeliveries: RecentDeliveries;
  readonly deviceGauge: DeviceGauge;
}
