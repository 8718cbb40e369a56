import { performance } from 'node:perf_hooks';
import type { Clock, Log } from '@waxwing/service';
import type { Sodium } from '@waxwing/sodium';
import type { Database } from '@waxwing/storage';
import type { KeyRingConfiguration } from './key-ring-configuration.js';
import { keyRingFile } from './key-ring-file.js';
import { KeyRingKeeper } from './key-ring-keeper.js';
import { keyRingRow } from './key-ring-row.js';
import type { KeyRingStore } from './key-ring-store.js';
import type { KeyRingTables } from './key-ring-tables.js';
import { LiveKeyRing } from './live-key-ring.js';
import { SteadyClock } from './steady-clock.js';

/** The relay's database, whatever else is in it; the key ring's tables are among its migrations. */
export type DatabaseWithKeyRing = Pick<Database<never>, 'db' | 'write'>;

export interface OpenKeyRingOptions {
  readonly sodium: Sodium;
  readonly clock: Clock;
  readonly log: Log;
  readonly database: DatabaseWithKeyRing;
  /** A number from 0 up to, not including, 1. */
  readonly random?: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonic?: Clock;
  readonly scryptWorkFactor?: number;
}

/** An open ring and what ends following it. */
export interface OpenKeyRing {
  readonly keyRing: LiveKeyRing;
  close(): Promise<void>;
}

// A change must take effect within two seconds where the ring is a file, within a minute where it is shared.
const filePollMilliseconds = 1000;
const rowPollMilliseconds = 5000;

/**
 * Opens the key ring of a relay and keeps following it.
 * @throws ConfigurationError with a sentence that says how to mend it when there is no ring, it cannot be decrypted, or it is not sound.
 */
export async function openKeyRing(
  configuration: KeyRingConfiguration,
  options: OpenKeyRingOptions,
): Promise<OpenKeyRing> {
  const { sodium, log, random = Math.random } = options;
  const steadyClock = new SteadyClock(options.clock, options.monotonic ?? (() => performance.now()));
  const keeper = createKeyRingKeeper(configuration, { ...options, clock: () => steadyClock.now() });
  const keyRing = new LiveKeyRing(await keeper.change((ring) => ring), {
    keeper,
    steadyClock,
    sodium,
    log,
    random,
  });
  await keyRing.refresh();
  const period = configuration.place.kind === 'file' ? filePollMilliseconds : rowPollMilliseconds;
  const timer = setInterval(() => void keyRing.refresh(), period);
  timer.unref();
  return {
    keyRing,
    async close() {
      clearInterval(timer);
      await keyRing.refresh();
    },
  };
}

/** What reads and changes the ring of a configuration, in a relay or in a command. */
export function createKeyRingKeeper(
  { place, unlock, policy }: KeyRingConfiguration,
  { database, sodium, clock, scryptWorkFactor }: Omit<OpenKeyRingOptions, 'log'>,
): KeyRingKeeper {
  const store: KeyRingStore =
    place.kind === 'file'
      ? keyRingFile(place.path)
      : keyRingRow(database as unknown as Database<KeyRingTables>);
  const cost = scryptWorkFactor === undefined ? {} : { scryptWorkFactor };
  return new KeyRingKeeper({ store, unlock, policy, sodium, clock, ...cost });
}
