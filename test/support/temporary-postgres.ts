import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A temporary database on a PostgreSQL server. */
export interface TemporaryPostgres {
  readonly url: string;
  /** Empties the database. */
  empty(): Promise<void>;
  /** Drops the database, even if clients are still connected. */
  drop(): Promise<void>;
}

const dropAllSchemas = `
  do $$ declare one text; begin
    for one in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop
      execute format('drop schema %I cascade', one);
    end loop;
    create schema public;
  end $$`;

/**
 * Creates an empty database. `serverUrl` may name any database on the server. Its user must be allowed to create
 * databases.
 */
export async function createTemporaryPostgres(serverUrl: string): Promise<TemporaryPostgres> {
  const name = `waxwing_test_${randomUUID().replaceAll('-', '')}`;
  await onServer(serverUrl, `create database ${name}`);
  const { href: url } = Object.assign(new URL(serverUrl), { pathname: `/${name}` });
  return {
    url,
    empty: () => onServer(url, dropAllSchemas),
    drop: () => onServer(serverUrl, `drop database if exists ${name} with (force)`),
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
