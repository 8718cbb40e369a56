import type { Kysely, Transaction } from 'kysely';
import type { RunAtOnce } from './run-at-once.js';
import type { Signals } from './signals/signals.js';

/** What {@link openDatabase} needs of a kind of database. */
export interface Backend<Tables> {
  readonly kind: 'sqlite' | 'postgres';
  readonly db: Kysely<Tables>;
  readonly signals: Signals;
  /** How many transactions may be in flight at once. */
  readonly lanes: number;
  isConflict(error: unknown): boolean;
  /** In the one transaction that writes at a time; nothing where there are several. */
  readonly runAtOnce?: RunAtOnce;
  /** Lifts the limit on how long a statement may take, until the transaction ends; nothing where there is none. */
  waitPatiently?(transaction: Transaction<Tables>): Promise<void>;
  /** Has tables changed through a connection that waits for as long as it takes. */
  migrating(work: (migration: Migration<Tables>) => Promise<void>): Promise<void>;
  /** Does what writes through another connection of this process, as {@link Database.inTurn} says. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Bytes of SQLite's write-ahead log; `undefined` on PostgreSQL. */
  logBytes(): number | undefined;
  close(): Promise<void>;
}

interface Migration<Tables> {
  readonly db: Kysely<Tables>;
  /** The first thing that a migration does, so that only one process does it. */
  lock(transaction: Transaction<Tables>): Promise<void>;
}

/**
 * `serving` for the process that answers requests and does jobs; `visiting` for a command beside it; `helping` for a thread
 * of the serving process, which opens what is open there already, and on SQLite writes when it is given a turn.
 */
export type DatabaseRole = 'serving' | 'visiting' | 'helping';

export interface BackendOptions {
  readonly url: string;
  readonly role: DatabaseRole;
  /** Names of the units whose tables are in a database of ours. */
  readonly units: readonly string[];
  /** The most connections that are opened, where there are several. */
  readonly connections: number;
  /** Told of what went wrong in the background. */
  onError(error: unknown): void;
}
