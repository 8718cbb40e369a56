import { statSync } from 'node:fs';
import type { Kysely } from 'kysely';
import type { Backend, BackendOptions, DatabaseRole } from './backend.js';
import { describeMisplacement } from './database-file.js';
import { DatabaseUnusableError } from './database-unusable-error.js';
import { GroupCommit } from './group-commit.js';
import {
  type MigrationSet,
  type MigrationStatus,
  migrate,
  readMigrationStatus,
  statusOf,
} from './migrate.js';
import { repeatConflicts } from './repeat-conflicts.js';
import type { Signals } from './signals/signals.js';
import type { Write } from './transaction.js';

export interface OpenDatabaseOptions {
  /** `sqlite:<file>` or `postgres://…`. */
  readonly url: string;
  readonly migrations: readonly MigrationSet[];
  readonly role: DatabaseRole;
  /** Told of what went wrong in the background. */
  onError(error: unknown): void;
  /** The most connections to PostgreSQL that this process opens, from 2 on; 10 where nothing is said. */
  readonly connections?: number;
}

/** An open, migrated database. */
export interface Database<Tables> {
  readonly kind: 'sqlite' | 'postgres';
  /** For reading what is committed. Writes go through {@link write}. */
  readonly db: Kysely<Tables>;
  readonly signals: Signals;
  /**
   * Commits `write` durably, together with others of the same moment. See {@link GroupCommit}.
   * @throws DatabaseUnavailableError when the database does not answer; answer with a 503 then.
   */
  write<Result>(write: Write<Tables, Result>): Promise<Result>;
  /** {@link write} of what a whole turn of the event loop brought: it begins at once where no other is under way. */
  writeGathered<Result>(write: Write<Tables, Result>): Promise<Result>;
  /**
   * Commits a write that is one statement, which needs no transaction around it: on PostgreSQL, a single round trip.
   * @throws DatabaseUnavailableError as {@link write}.
   */
  writeStatement<Result>(statement: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /**
   * Commits a write that takes long, or changes very many rows, in a transaction of its own. On PostgreSQL it holds up no
   * other write; on SQLite nobody else writes meanwhile, and the answer says for how long.
   * @throws DatabaseUnavailableError as {@link write}.
   */
  writeAlone<Result>(write: Write<Tables, Result>): Promise<AloneResult<Result>>;
  /**
   * Does `work`, in which a thread that helps commits what it is told to. On SQLite nobody else of this process writes
   * meanwhile; on PostgreSQL it begins at once.
   * @throws DatabaseUnavailableError as {@link write}, or what `work` throws.
   */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Bytes of SQLite's write-ahead log; `undefined` on PostgreSQL. */
  logBytes(): number | undefined;
  /** Further calls do nothing. */
  close(): Promise<void>;
}

/** What a write alone answered. */
export interface AloneResult<Result> {
  readonly result: Result;
  /** Milliseconds for which it kept others from writing; `undefined` on PostgreSQL, where it did not. */
  readonly fileHeldMilliseconds: number | undefined;
}

const defaultConnections = 10;

/**
 * Opens the database and, but for a thread that helps, brings its tables up to date.
 * @throws DatabaseUnusableError with a sentence that says what to do.
 */
export async function openDatabase<Tables>(options: OpenDatabaseOptions): Promise<Database<Tables>> {
  const { url, role, migrations, connections = defaultConnections } = options;
  const onError = (error: unknown): void => options.onError(error);
  const units = migrations.map(({ unit }) => unit);
  const backend = await openBackend<Tables>({ url, role, units, connections, onError });
  const { kind, db, signals, lanes, isConflict, runAtOnce } = backend;
  const commits = new GroupCommit(db, { lanes, connections, isConflict, runAtOnce, onActionError: onError });
  try {
    if (role !== 'helping') await backend.migrating(({ db, lock }) => migrate(db, migrations, lock));
  } catch (error) {
    await backend.close();
    throw error;
  }
  let closed: Promise<void> | undefined;
  return {
    kind,
    db,
    signals,
    write: (write) => commits.run(write),
    writeGathered: (write) => commits.run(write, true),
    writeStatement: (statement) =>
      kind === 'postgres'
        ? repeatConflicts(() => statement(db), { connections, isConflict })
        : commits.run(({ db }) => statement(db)),
    writeAlone: (write) => writeAlone(backend, commits, write),
    inTurn: (work) => backend.inTurn(work),
    logBytes: () => backend.logBytes(),
    close() {
      closed ??= backend.close();
      return closed;
    },
  };
}

async function writeAlone<Tables, Result>(
  backend: Backend<Tables>,
  commits: GroupCommit<Tables>,
  write: Write<Tables, Result>,
): Promise<AloneResult<Result>> {
  let begun = 0;
  const result = await commits.runAlone(async (transaction) => {
    begun = performance.now();
    await backend.waitPatiently?.(transaction.db);
    return write(transaction);
  });
  const isFileHeld = backend.kind === 'sqlite';
  return { result, fileHeldMilliseconds: isFileHeld ? performance.now() - begun : undefined };
}

/**
 * The SQLite file that the URL names, when there is none yet; opening it would make an empty one.
 * @throws the system's error when that cannot be found out.
 */
export function missingFile(url: string): string | undefined {
  const path = /^sqlite:(.+)$/s.exec(url)?.[1];
  return path === undefined || statSync(path, { throwIfNoEntry: false }) !== undefined ? undefined : path;
}

/**
 * What has been run of each unit's migrations, and what the next start would run; changes nothing.
 * @throws DatabaseUnusableError when the database cannot be opened, and when its file could not be made.
 */
export async function migrationStatus(
  options: Pick<OpenDatabaseOptions, 'url' | 'migrations'>,
): Promise<MigrationStatus[]> {
  const { url, migrations } = options;
  const missing = missingFile(url);
  if (missing !== undefined) {
    const problem = describeMisplacement(missing);
    if (problem !== undefined) throw new DatabaseUnusableError(problem);
    return migrations.map((set) => statusOf(set, []));
  }
  const backend = await openBackend<unknown>({
    url,
    role: 'visiting',
    units: migrations.map(({ unit }) => unit),
    connections: 2,
    onError: () => undefined,
  });
  try {
    return await readMigrationStatus(backend.db, migrations);
  } finally {
    await backend.close();
  }
}

async function openBackend<Tables>(options: BackendOptions): Promise<Backend<Tables>> {
  const scheme = /^[a-z]*(?=:)/.exec(options.url)?.[0];
  if (scheme === 'sqlite') {
    const { openSqliteBackend } = await import('./sqlite/sqlite-backend.js');
    return openSqliteBackend(options);
  }
  if (scheme === 'postgres' || scheme === 'postgresql') {
    const { openPostgresBackend } = await import('./postgres/postgres-backend.js');
    return await openPostgresBackend(options);
  }
  if (scheme === undefined) {
    throw new DatabaseUnusableError('The database URL has no scheme: write sqlite:<file> or postgres://….');
  }
  // The rest of the URL may hold a password.
  throw new DatabaseUnusableError(
    `The database URL begins with "${scheme}", which is not known: write sqlite:<file> or postgres://….`,
  );
}
