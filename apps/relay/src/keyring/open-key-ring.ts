import { performance } from 'node:perf_hooks';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { Sodium } from '@waxwing/sodium';
import type { KeyAdmin } from './administration/key-admin.js';
import { SteadyClock } from './clock/steady-clock.js';
import { withListToRenew } from './list/publish-key-list.js';
import { KeyRingKeeper } from './live/key-ring-keeper.js';
import { LiveKeyRing } from './live/live-key-ring.js';
import { auditFile } from './storage/audit-log.js';
import type { KeyRingConfiguration } from './storage/key-ring-configuration.js';
import { keyRingStore } from './storage/key-ring-place.js';
import type { KeyRingDatabase } from './storage/key-ring-tables.js';
import { KeyRingTokenVault } from './tokens/key-ring-token-vault.js';
import { readKeyUses } from './uses/key-uses.js';

export interface OpenKeyRingOptions {
  readonly sodium: Sodium;
  readonly clock: Clock;
  readonly log: Log;
  /** The relay's, whatever else is in it. */
  readonly database: KeyRingDatabase;
  /** Milliseconds of a clock that is never set. */
  readonly monotonic?: Clock;
  readonly scryptWorkFactor?: number;
}

/** An open ring and what ends following it. */
export interface OpenKeyRing {
  readonly keyRing: LiveKeyRing;
  /** What the operations of operators work with. */
  readonly admin: KeyAdmin;
  close(): Promise<void>;
}

// A change must take effect within two seconds where the ring is a file, within a minute where it is shared.
const filePollMilliseconds = 1000;
const rowPollMilliseconds = 5000;

/**
 * What opens and seals stored tokens by the ring as it is now, for a command. @throws ConfigurationError as
 * {@link openKeyRing}.
 */
export async function readTokenVault(
  configuration: KeyRingConfiguration,
  options: Pick<OpenKeyRingOptions, 'sodium' | 'clock' | 'database'>,
): Promise<KeyRingTokenVault> {
  const { ring } = await createKeyRingKeeper(configuration, options).read();
  return new KeyRingTokenVault(() => ring, options.clock, options.sodium);
}

/**
 * Opens the key ring of a relay and keeps following it.
 * @throws ConfigurationError with a sentence that says how to mend it when there is no ring, it cannot be decrypted, it
 * is not sound, or the clock is far from its instants.
 */
export async function openKeyRing(
  configuration: KeyRingConfiguration,
  options: OpenKeyRingOptions,
): Promise<OpenKeyRing> {
  const { sodium, log, monotonic = () => performance.now() } = options;
  const steadyClock = new SteadyClock(options.clock, monotonic);
  const clock = () => steadyClock.now();
  let wallAtZero: number | undefined;
  const witnessed = () => (wallAtZero === undefined ? undefined : wallAtZero + monotonic());
  const keeper = createKeyRingKeeper(configuration, { ...options, clock, witnessed });
  // The ring may have been restored from a backup: phones refuse a list with an older sequence than they have seen.
  const started = await keeper.change(withListToRenew, { actor: 'schedule', action: 'start' });
  // From here on, since the ring has just vouched for the clock.
  wallAtZero = clock() - monotonic();
  const keyRing = new LiveKeyRing(started, {
    keeper,
    steadyClock,
    monotonic,
    sodium,
    log,
  });
  await keyRing.refresh();
  const admin = createKeyAdmin(keeper, { ...options, clock, takeOver: () => keyRing.takeOver() });
  const period = configuration.place.kind === 'file' ? filePollMilliseconds : rowPollMilliseconds;
  const timer = setInterval(() => void keyRing.refresh(), period);
  timer.unref();
  return {
    keyRing,
    admin,
    async close() {
      clearInterval(timer);
      await keyRing.idle();
    },
  };
}

export interface CreateKeyAdminOptions extends Pick<OpenKeyRingOptions, 'sodium' | 'clock' | 'database'> {
  takeOver(): Promise<void>;
}

/** What commands work with. */
export function createKeyAdmin(
  keeper: KeyRingKeeper,
  { sodium, clock, database, takeOver }: CreateKeyAdminOptions,
): KeyAdmin {
  return { keeper, sodium, clock, readKeyUses: () => readKeyUses(database.db), takeOver };
}

export interface CreateKeyRingKeeperOptions extends Omit<OpenKeyRingOptions, 'log' | 'monotonic'> {
  /** See `ClockReading`; for a relay that runs. */
  readonly witnessed?: () => number | undefined;
}

/** What reads and changes the ring of a configuration, in a relay or in a command. */
export function createKeyRingKeeper(
  { place, unlock, policy, confirmedDay, auditLog }: KeyRingConfiguration,
  { database, sodium, clock, witnessed, scryptWorkFactor }: CreateKeyRingKeeperOptions,
): KeyRingKeeper {
  const store = keyRingStore(place, database);
  const cost = scryptWorkFactor === undefined ? {} : { scryptWorkFactor };
  const audit = auditFile(auditLog);
  const clocks = { clock, confirmedDay, ...(witnessed === undefined ? {} : { witnessed }) };
  return new KeyRingKeeper({ store, unlock, policy, sodium, audit, ...clocks, ...cost });
}
