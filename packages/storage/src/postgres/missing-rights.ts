import { type Kysely, sql } from 'kysely';
import { describeLocation } from './connection-trouble.js';

/** The changes that startup will make to the database. */
export interface NeededRights {
  /** Whether startup will migrate tables. */
  readonly migrates: boolean;
  /** Tables whose id counter startup will raise. */
  readonly counters: readonly string[];
}

interface Rights {
  readonly user: string;
  readonly schema: string;
  readonly readOnly: boolean;
  readonly mayMigrate: boolean;
  /** Whether there are tables that the user may not read or write, apart from the migration tables. */
  readonly lacksTables: boolean;
  /** Sequences that startup sets, but the user may not. Inserts into identity columns need no privilege on them. */
  readonly sequences: readonly string[];
}

/**
 * Explains which privilege the database user lacks for startup, and what to run. Returns `undefined` if none is
 * missing. Checks only tables that belong to the owner of the migration tables, because the schema may also contain
 * other programs' tables. Changes nothing.
 */
export async function describeMissingRights<Tables>(
  db: Kysely<Tables>,
  url: string,
  { migrates, counters }: NeededRights,
): Promise<string | undefined> {
  const { user, schema, readOnly, mayMigrate, lacksTables, sequences } = await readRights(db, counters);
  const location = `the ${describeLocation(url)}`;
  if (readOnly) {
    return `The user "${user}" can only read ${location}, because default_transaction_read_only is on: set it to off for the user (alter role) and the database (alter database).`;
  }
  if (migrates) {
    if (mayMigrate) return undefined;
    return `The user "${user}" may not make or change the tables of ${location}: make it the owner of the database, and of all tables that are there.`;
  }
  const grants = [
    lacksTables
      ? `grant select, insert, update, delete on all tables in schema ${schema} to ${user}`
      : undefined,
    sequences.length > 0 ? `grant select, update on sequence ${sequences.join(', ')} to ${user}` : undefined,
  ].filter((grant) => grant !== undefined);
  if (grants.length === 0) return undefined;
  return `The user "${user}" lacks rights in ${location}: as the owner of its tables, run "${grants.join('; ')}".`;
}

async function readRights<Tables>(db: Kysely<Tables>, counters: readonly string[]): Promise<Rights> {
  const { rows } = await sql<Rights>`
    with relations as (
      select oid, relowner, relname like '%\\_migrations' or relname like '%\\_migrations\\_lock' as is_migration
      from pg_class where relkind in ('r', 'p') and relnamespace = (select oid from pg_namespace where nspname = current_schema())
        and relowner = (select relowner from pg_class where oid = to_regclass('jobs_migrations'))
    ), counters as (
      select pg_get_serial_sequence(name, 'id')::regclass as oid
      from unnest(${[...counters]}::text[]) as name where to_regclass(name) is not null
    )
    select quote_ident(current_user) as "user",
      coalesce(quote_ident(current_schema()), 'public') as schema,
      current_setting('transaction_read_only') = 'on' as "readOnly",
      coalesce(has_schema_privilege(current_schema(), 'create'), false)
        and not exists (select from relations where not pg_has_role(relowner, 'usage')) as "mayMigrate",
      exists (select from relations where not is_migration and not (
        has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
        and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))) as "lacksTables",
      array(select oid::text from counters where not (
        has_sequence_privilege(oid, 'select, usage') and has_sequence_privilege(oid, 'update')) order by 1) as sequences
    `.execute(db);
  const [rights] = rows;
  if (rights === undefined) throw new Error('PostgreSQL returned no row for a query without conditions');
  return rights;
}
