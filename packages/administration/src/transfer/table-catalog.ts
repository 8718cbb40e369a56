import { DatabaseUnusableError, isPostgres, type UntypedDatabase } from '@waxwing/storage';
import { sql } from 'kysely';

export interface TransferTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly keyColumns: readonly string[];
}

/** The highest id that a generated column has ever had. New ids must be higher, so that no id is reused. */
export interface GeneratedColumn {
  readonly table: string;
  readonly column: string;
  readonly highest: number;
}

interface CatalogRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly key_position: number | null;
}

/**
 * Reads all tables except those in `without`. A table comes after the tables that its foreign keys reference. A
 * partitioned table is read as one table.
 */
export async function readTables(db: UntypedDatabase, without: readonly string[]): Promise<TransferTable[]> {
  const { rows } = await (isPostgres(db) ? postgresColumns : sqliteColumns).execute(db);
  const names = [...new Set(rows.map(({ table_name }) => table_name))].filter(
    (name) => !without.includes(name),
  );
  const tables = names.map((name) => {
    const columns = rows.filter(({ table_name }) => table_name === name);
    const key = columns.filter(({ key_position }) => key_position !== null && key_position > 0);
    return {
      name,
      columns: columns.map(({ column_name }) => column_name),
      keyColumns: key
        .sort((a, b) => (a.key_position ?? 0) - (b.key_position ?? 0))
        .map(({ column_name }) => column_name),
    };
  });
  return inOrderOfReferences(tables, await readReferences(db));
}

/** Reads the highest id of each generated column. */
export async function readGeneratedColumns(db: UntypedDatabase): Promise<GeneratedColumn[]> {
  if (isPostgres(db)) return await readIdentityColumns(db);
  const { rows } = await sql<{ table: string; highest: number }>`
    select name as "table", seq as highest from sqlite_sequence order by name`.execute(db);
  return rows.map((row) => ({ ...row, column: 'id' }));
}

/** Makes new ids start above `highest`. */
export async function restoreGeneratedColumn(
  db: UntypedDatabase,
  { table, column, highest }: GeneratedColumn,
): Promise<void> {
  if (isPostgres(db)) {
    // An export from SQLite may have 0 as the highest id, which a PostgreSQL sequence does not allow.
    await sql`
      select setval(pg_get_serial_sequence(${quoted(table)}, ${column}), ${Math.max(highest, 1)}, ${highest > 0})`.execute(
      db,
    );
    return;
  }
  await sql`delete from sqlite_sequence where name = ${table}`.execute(db);
  await sql`insert into sqlite_sequence (name, seq) values (${table}, ${highest})`.execute(db);
}

const sqliteColumns = sql<CatalogRow>`
  select tables.name as table_name, columns.name as column_name, columns.pk as key_position
  from sqlite_master as tables, pragma_table_info(tables.name) as columns
  where tables.type = 'table' and substr(tables.name, 1, 7) <> 'sqlite_'
    -- Full-text indexes are derived: the import rebuilds them from the tables that they index.
    and tables.name not in (select name from pragma_table_list where type in ('virtual', 'shadow'))
  order by tables.name, columns.cid`;

const postgresColumns = sql<CatalogRow>`
  select columns.table_name, columns.column_name, keys.ordinal_position as key_position
  from information_schema.columns
  join information_schema.tables on tables.table_schema = columns.table_schema
    and tables.table_name = columns.table_name and tables.table_type = 'BASE TABLE'
  join pg_class on pg_class.oid = format('%I.%I', columns.table_schema, columns.table_name)::regclass
  left join information_schema.table_constraints as constraints on constraints.table_schema = columns.table_schema
    and constraints.table_name = columns.table_name and constraints.constraint_type = 'PRIMARY KEY'
  left join information_schema.key_column_usage as keys on keys.constraint_schema = constraints.constraint_schema
    and keys.constraint_name = constraints.constraint_name and keys.table_name = columns.table_name
    and keys.column_name = columns.column_name
  where columns.table_schema = 'public' and not pg_class.relispartition
  order by columns.table_name, columns.ordinal_position`;

interface Reference {
  readonly from_table: string;
  readonly to_table: string;
}

async function readReferences(db: UntypedDatabase): Promise<Reference[]> {
  const query = isPostgres(db)
    ? sql<Reference>`
        select source.relname as from_table, target.relname as to_table from pg_constraint
        join pg_class as source on source.oid = conrelid join pg_class as target on target.oid = confrelid
        where contype = 'f' and connamespace = 'public'::regnamespace`
    : sql<Reference>`
        select tables.name as from_table, foreign_keys."table" as to_table
        from sqlite_master as tables, pragma_foreign_key_list(tables.name) as foreign_keys
        where tables.type = 'table'`;
  return (await query.execute(db)).rows;
}

async function readIdentityColumns(db: UntypedDatabase): Promise<GeneratedColumn[]> {
  const columns = await sql<{ table: string; column: string }>`
    select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = 'public' and is_identity = 'YES'
      and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)
    order by 1`.execute(db);
  const generated: GeneratedColumn[] = [];
  for (const { table, column } of columns.rows) {
    const { rows } = await sql<{ highest: number | null }>`
      select pg_sequence_last_value(pg_get_serial_sequence(${quoted(table)}, ${column})::regclass) as highest`.execute(
      db,
    );
    const highest = rows[0]?.highest;
    if (highest !== null && highest !== undefined) generated.push({ table, column, highest });
  }
  return generated;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function inOrderOfReferences(
  tables: readonly TransferTable[],
  references: readonly Reference[],
): TransferTable[] {
  const ordered: TransferTable[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const isWaiting = ({ name }: TransferTable): boolean =>
      references.some(
        ({ from_table, to_table }) =>
          from_table === name && to_table !== name && left.some((table) => table.name === to_table),
      );
    const ready = left.filter((table) => !isWaiting(table));
    if (ready.length === 0) {
      throw new DatabaseUnusableError(
        `The tables ${left.map(({ name }) => name).join(', ')} refer to each other in a cycle, so they cannot be exported in order.`,
      );
    }
    ordered.push(...ready);
    left = left.filter((table) => !ready.includes(table));
  }
  return ordered;
}
