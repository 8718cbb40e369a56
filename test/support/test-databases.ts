import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, type OpenDatabaseOptions, openDatabase } from '@waxwing/storage';
import { afterAll, afterEach, describe } from 'vitest';

export interface TestBackend {
  readonly name: 'sqlite' | 'postgres';
  /** The URL of a database that nobody has used yet; it is removed after the tests of this backend. */
  freshUrl(): Promise<string>;
  /**
   * Opens a database (a fresh one where no URL is given). What the test leaves open is closed after it.
   * Errors of job handlers make the test fail, unless it brings its own `onJobError`.
   */
  open<Tables>(options: TestDatabaseOptions): Promise<Database<Tables>>;
}

export type TestDatabaseOptions = Pick<OpenDatabaseOptions, 'migrations'> & Partial<OpenDatabaseOptions>;

/** Defines the same tests once for every backend that can be reached from here. */
export function eachBackend(define: (backend: TestBackend) => void): void {
  describe('on SQLite', () => {
    define(withDatabases('sqlite', sqliteDatabases()));
  });
}

interface DatabaseSource {
  make(): Promise<string>;
  removeAll(): Promise<void>;
}

function withDatabases(name: TestBackend['name'], source: DatabaseSource): TestBackend {
  const open: Database<unknown>[] = [];
  const jobErrors: unknown[] = [];
  afterEach(async () => {
    for (const database of open.splice(0)) {
      await database.jobs.stop(0);
      await database.close();
    }
    const errors = jobErrors.splice(0);
    if (errors.length > 0) throw new AggregateError(errors, 'a job handler failed');
  });
  afterAll(() => source.removeAll());
  return {
    name,
    freshUrl: () => source.make(),
    async open<Tables>(options: TestDatabaseOptions): Promise<Database<Tables>> {
      const database = await openDatabase<Tables>({
        url: options.url ?? (await source.make()),
        role: 'serving',
        now: Date.now,
        onJobError: (error) => void jobErrors.push(error),
        ...options,
      });
      open.push(database as unknown as Database<unknown>);
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
    async removeAll() {
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}
