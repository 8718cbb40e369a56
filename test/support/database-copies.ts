import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Databases that can be copied while no process has them open. */
export interface DatabaseCopies {
  url(name: string): string;
  /** Creates an empty database. */
  make(name: string): Promise<void>;
  copy(from: string, to: string): Promise<void>;
  close(): Promise<void>;
}

/** SQLite files in a folder. */
export function sqliteCopies(dir: string): DatabaseCopies {
  const file = (name: string) => join(dir, `${name}.sqlite`);
  return {
    url: (name) => `sqlite:${file(name)}`,
    make: async () => undefined,
    async copy(from, to) {
      // Removes the file first: an old connection that is not yet garbage-collected would otherwise write to the copy.
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${file(to)}${suffix}`, { force: true });
      copyFileSync(file(from), file(to));
    },
    close: async () => undefined,
  };
}

/** Databases on the PostgreSQL server at `serverUrl`, which may name any database on the server. */
export function postgresCopies(serverUrl: string): DatabaseCopies {
  const prefix = `waxwing_test_${process.pid}_${Date.now()}`;
  const made = new Set<string>();
  const database = (name: string) => `${prefix}_${name.replaceAll('-', '_')}`;
  async function run(...statements: string[]): Promise<void> {
    const client = new pg.Client({ connectionString: serverUrl });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }
  return {
    url: (name) => Object.assign(new URL(serverUrl), { pathname: `/${database(name)}` }).href,
    async make(name) {
      made.add(database(name));
      await run(`create database ${database(name)}`);
    },
    async copy(from, to) {
      made.add(database(to));
      await run(
        `drop database if exists ${database(to)} with (force)`,
        `create database ${database(to)} template ${database(from)}`,
      );
    },
    async close() {
      for (const name of made) await run(`drop database if exists ${name} with (force)`);
    },
  };
}
