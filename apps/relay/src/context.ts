import type { Clock, Log, Metrics } from '@waxwing/service';
import type { Sodium } from '@waxwing/sodium';
import type { Deliveries } from './deliveries/create-deliveries.js';
import type { KeyListContext } from './keyring/key-list-operation.js';
import type { BouncerKeys } from './registrations/bouncer-keys.js';
import type { RegistrationBatches } from './registrations/registration-batches.js';
import type { TokenVault } from './registrations/token-vault.js';
import type { RelayDatabase } from './relay-tables.js';
import type { ServerDirectory } from './servers/server-directory.js';
import type { ServerQuotas } from './servers/server-quotas.js';

/** What the relay's operations work with; made once, when the relay starts. */
export interface RelayContext {
  readonly clock: Clock;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly sodium: Sodium;
  readonly database: RelayDatabase;
  readonly servers: ServerDirectory;
  readonly keyRing: BouncerKeys & KeyListContext['keyRing'];
  readonly tokenVault: TokenVault;
  readonly deliveries: Deliveries;
  readonly registrations: RegistrationBatches;
  readonly quotas: Pick<ServerQuotas, 'take'>;
}
