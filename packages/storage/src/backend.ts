import type { Kysely, Transaction } from 'kysely';
import type { RunAtOnce } from './run-at-once.js';
import type { Signals } from './signals/signals.js';

/** Interface of a database backend for {@link openDatabase}. */
export interface Backend<Tables> {
  readonly kind: 'sqlite' | 'postgres';
  /** See {@link Database.location}. */
  readonly location: string;
  readonly db: Kysely<Tables>;
  readonly signals: Signals;
  /** Maximum concurrent write transactions. */
  readonly writers: number;
  isConflict(error: unknown): boolean;
  /** Runs queries synchronously in the write transaction. Present only if transactions run one at a time (SQLite). */
  readonly runAtOnce?: RunAtOnce;
  /**
   * Prepares a transaction for slow work: disables the statement timeout (PostgreSQL), or yields to other requests
   * between statements (SQLite).
   */
  waitPatiently(transaction: Transaction<Tables>): Promise<void>;
  /** Runs migrations on a connection without statement timeouts. */
  migrating(work: (migration: Migration<Tables>) => Promise<void>): Promise<void>;
  /** Runs `work` while holding the write lock: see {@link Database.withWriteLock}. */
  withWriteLock<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Size of SQLite's write-ahead log in bytes; `undefined` on PostgreSQL. */
  logBytes(): number | undefined;
  /** See {@link Database.isPoolExhausted}. */
  isPoolExhausted(): boolean;
  close(): Promise<void>;
}

interface Migration<Tables> {
  readonly db: Kysely<Tables>;
  /** Takes the migration lock as the first step of the transaction, so that only one process migrates. */
  lock(transaction: Transaction<Tables>): Promise<void>;
}

/**
 * The process or thread that opens a database.
 *
 * - `serving`: the process that answers requests and runs jobs
 * - `visiting`: a command, which may run while another process serves
 * - `helping`: a worker thread of the serving process. On SQLite, it writes only while the main thread holds the write
 *   lock for it.
 */
export type DatabaseRole = 'serving' | 'visiting' | 'helping';

export interface BackendOptions {
  readonly url: string;
  readonly role: DatabaseRole;
  /** The units whose tables identify this program's databases. */
  readonly units: readonly string[];
  /** Maximum number of connections. Only for PostgreSQL. */
  readonly connections: number;
  /** If given, a database without tables is refused, and the error message ends with this text. */
  readonly remedyIfMissing?: string | undefined;
  /** Whether a SQLite file may also contain other programs' tables. */
  readonly mayHoldOthers?: boolean | undefined;
  /** Called with errors of background work. */
  onError(error: unknown): void;
}
