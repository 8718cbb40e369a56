import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DatabaseWithJobs, type DatabaseWithJobsOptions, openDatabaseWithJobs } from '@waxwing/jobs';
import { afterAll, afterEach, describe, it } from 'vitest';
import { createTemporaryPostgres, type TemporaryPostgres } from './temporary-postgres.js';

export interface TestBackend {
  readonly name: 'sqlite' | 'postgres';
  /** The URL of an unused database, which is removed after this backend's tests. */
  freshUrl(): Promise<string>;
  /**
   * Opens the database at the URL, or a new database. Closes it after the test if the test leaves it open. Errors in
   * job handlers make the test fail, unless the test passes its own `onJobError`.
   */
  open<Tables>(options: TestDatabaseOptions): Promise<DatabaseWithJobs<Tables>>;
}

type TestDatabaseOptions = Pick<DatabaseWithJobsOptions, 'migrations'> & Partial<DatabaseWithJobsOptions>;

/** URL of the PostgreSQL server on which tests create databases. `undefined` if none is configured. */
export const testPostgresUrl = process.env.WAXWING_TEST_POSTGRES_URL || undefined;

/** Defines the same tests for each backend. Without PostgreSQL, its tests are reported as skipped. */
export function eachBackend(define: (backend: TestBackend) => void): void {
  describe('on SQLite', () => {
    define(sqliteBackend());
  });
  eachPostgres(define);
}

/** Defines tests that need PostgreSQL. They are skipped if none is configured. */
export function eachPostgres(define: (postgres: TestBackend, sqlite: TestBackend) => void): void {
  const url = testPostgresUrl;
  if (url === undefined) {
    tellWhatIsLeftOut();
    // Reports a skipped test, because a file without tests would be an error.
    it('runs on PostgreSQL', ({ skip }) => skip('WAXWING_TEST_POSTGRES_URL is not set'));
    return;
  }
  describe('on PostgreSQL', () => {
    define(withDatabases('postgres', postgresDatabases(url)), sqliteBackend());
  });
}

let isTold = false;

function tellWhatIsLeftOut(): void {
  if (!isTold)
    process.stderr.write('skipped: tests on PostgreSQL, because WAXWING_TEST_POSTGRES_URL is not set\n');
  isTold = true;
}

/** The backend for SQLite-only tests. */
export function sqliteBackend(): TestBackend {
  return withDatabases('sqlite', sqliteDatabases());
}

interface DatabaseSource {
  make(): Promise<string>;
  /** Empties a database for reuse: creating and dropping databases would take most of these tests' time. */
  recycle(url: string): Promise<void>;
  removeAll(): Promise<void>;
}

const removalTimeoutMilliseconds = 120_000;

function withDatabases(name: TestBackend['name'], source: DatabaseSource): TestBackend {
  const open: DatabaseWithJobs<unknown>[] = [];
  const recyclable: string[] = [];
  const jobErrors: unknown[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((database) => database.close()));
    await Promise.all(recyclable.splice(0).map((url) => source.recycle(url)));
    const errors = jobErrors.splice(0);
    if (errors.length > 0) throw new AggregateError(errors, 'a job handler failed');
  });
  afterAll(() => source.removeAll(), removalTimeoutMilliseconds);
  return {
    name,
    freshUrl: () => source.make(),
    async open<Tables>(options: TestDatabaseOptions): Promise<DatabaseWithJobs<Tables>> {
      const url = options.url ?? (await source.make());
      if (options.url === undefined) recyclable.push(url);
      const database = await openDatabaseWithJobs<Tables>({
        url,
        role: 'serving',
        now: Date.now,
        onJobError: (error) => void jobErrors.push(error),
        ...options,
      });
      open.push(database as unknown as DatabaseWithJobs<unknown>);
      return database;
    },
  };
}

function sqliteDatabases(): DatabaseSource {
  const folders: string[] = [];
  return {
    async make() {
      const folder = mkdtempSync(join(tmpdir(), 'waxwing-test-'));
      folders.push(folder);
      return `sqlite:${join(folder, 'database.sqlite')}`;
    },
    async recycle() {},
    async removeAll() {
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function postgresDatabases(serverUrl: string): DatabaseSource {
  const made: TemporaryPostgres[] = [];
  const emptied: TemporaryPostgres[] = [];
  return {
    async make() {
      const database = emptied.pop() ?? (await createTemporaryPostgres(serverUrl));
      if (!made.includes(database)) made.push(database);
      return database.url;
    },
    async recycle(url) {
      const used = made.find((database) => database.url === url);
      if (used === undefined) return;
      await used.empty();
      emptied.push(used);
    },
    async removeAll() {
      for (const database of made.splice(0)) await database.drop();
    },
  };
}
