import { performance } from 'node:perf_hooks';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { Sodium } from '@waxwing/sodium';
import { recordAct } from '../acts/record-act.js';
import type { KeyAdmin } from './administration/key-admin.js';
import { SteadyClock } from './clock/steady-clock.js';
import { withListToRenew } from './list/publish-key-list.js';
import { KeyRingKeeper } from './live/key-ring-keeper.js';
import { LiveKeyRing } from './live/live-key-ring.js';
import { auditFile } from './storage/audit-log.js';
import type { KeyRingConfiguration } from './storage/key-ring-configuration.js';
import { keyRingStore } from './storage/key-ring-location.js';
import type { KeyRingDatabase } from './storage/key-ring-tables.js';
import { KeyRingTokenVault } from './tokens/key-ring-token-vault.js';
import { readKeyUses } from './uses/key-uses.js';
import { VapidKeys } from './vapid/vapid-keys.js';

export interface OpenKeyRingOptions {
  readonly sodium: Sodium;
  readonly clock: Clock;
  readonly log: Log;
  /** The relay's database. */
  readonly database: KeyRingDatabase;
  /** Monotonic clock in milliseconds. */
  readonly monotonic?: Clock;
  readonly scryptWorkFactor?: number;
}

/** A key ring that follows changes to the stored ring until `close`. */
export interface OpenKeyRing {
  readonly keyRing: LiveKeyRing;
  /** Context of the admin operations. */
  readonly admin: KeyAdmin;
  close(): Promise<void>;
}

// Changes must take effect within two seconds for a ring in a file, and within a minute for a ring in the database.
const filePollMilliseconds = 1000;
const rowPollMilliseconds = 5000;

/**
 * Returns the token vault and the VAPID keys of the current ring, for a command that does not change any key.
 * @throws ConfigurationError for the same reasons as {@link openKeyRing}.
 */
export async function readKeysOfRing(
  configuration: KeyRingConfiguration,
  options: Pick<OpenKeyRingOptions, 'sodium' | 'clock' | 'database'>,
): Promise<{ readonly tokenVault: KeyRingTokenVault; readonly vapidKeys: VapidKeys }> {
  const { ring } = await createKeyRingKeeper(configuration, options).read();
  const tokenVault = new KeyRingTokenVault(() => ring, options.clock, options.sodium);
  return { tokenVault, vapidKeys: new VapidKeys(() => ring) };
}

/**
 * Opens a relay's key ring and follows its changes.
 * @throws ConfigurationError with the remedy if the ring is missing, cannot be decrypted or is invalid, or if the clock
 * is far from the times in the ring.
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
  // The ring may be from a backup, so its list is signed again: phones reject a list whose sequence is lower than that
  // of a list they have already seen.
  const started = await keeper.change(withListToRenew, { actor: 'schedule', action: 'start' });
  // Set only after the change above, which checked the clock against the ring.
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
  const period = configuration.location.kind === 'file' ? filePollMilliseconds : rowPollMilliseconds;
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
  /** Default: nothing is logged. */
  readonly log?: Pick<Log, 'warn'>;
  takeOver(): Promise<void>;
}

/** Returns the context of the admin operations. */
export function createKeyAdmin(
  keeper: KeyRingKeeper,
  { sodium, clock, database, log, takeOver }: CreateKeyAdminOptions,
): KeyAdmin {
  return {
    keeper,
    sodium,
    clock,
    readKeyUses: () => readKeyUses(database.db),
    async recordAct(act) {
      try {
        await database.write((transaction) => recordAct(transaction, act));
      } catch (err) {
        // Does not reject: the change is already stored, and the ring's own audit log records it.
        log?.warn({ err }, 'a change of the key ring is missing from the audit log of the dashboard');
      }
    },
    takeOver,
  };
}

export interface CreateKeyRingKeeperOptions extends Omit<OpenKeyRingOptions, 'log' | 'monotonic'> {
  /** See `ClockReading`. Set only in a running relay. */
  readonly witnessed?: () => number | undefined;
}

/** Creates the keeper of the configured ring, for a relay or a command. */
export function createKeyRingKeeper(
  { location, unlock, policy, confirmedDay, auditLog }: KeyRingConfiguration,
  { database, sodium, clock, witnessed, scryptWorkFactor }: CreateKeyRingKeeperOptions,
): KeyRingKeeper {
  const store = keyRingStore(location, database);
  const cost = scryptWorkFactor === undefined ? {} : { scryptWorkFactor };
  const audit = auditFile(auditLog);
  const clocks = { clock, confirmedDay, ...(witnessed === undefined ? {} : { witnessed }) };
  return new KeyRingKeeper({ store, unlock, policy, sodium, audit, ...clocks, ...cost });
}
