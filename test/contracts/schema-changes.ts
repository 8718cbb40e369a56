import type { MigrationSet } from '@waxwing/storage';
import type { Kysely } from 'kysely';

interface Column {
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
}

/** Columns by table and name, such as `users.name`, with an entry for each table. */
type Schema = ReadonlyMap<string, Column | 'table'>;

/** One migration's changes that would make a process of the previous version fail. */
export interface SchemaChange {
  readonly unit: string;
  readonly migration: string;
  readonly breaks: readonly string[];
}

/** Wraps migrations so that each records its schema changes in `changes`. */
export function recording(sets: readonly MigrationSet[], changes: SchemaChange[]): readonly MigrationSet[] {
  return sets.map((set) => ({
    ...set,
    migrations: Object.fromEntries(
      Object.entries(set.migrations).map(([migration, { up }]) => [
        migration,
        {
          async up(db: Kysely<unknown>) {
            const before = await schemaOf(db);
            await up(db);
            changes.push({ unit: set.unit, migration, breaks: broken(before, await schemaOf(db)) });
          },
        },
      ]),
    ),
  }));
}

async function schemaOf(db: Kysely<unknown>): Promise<Schema> {
  const schema = new Map<string, Column | 'table'>();
  for (const table of await db.introspection.getTables()) {
    schema.set(table.name, 'table');
    for (const { name, dataType, isNullable, hasDefaultValue, isAutoIncrementing } of table.columns) {
      const hasDefault = hasDefaultValue || isAutoIncrementing;
      schema.set(`${table.name}.${name}`, { type: dataType, isNullable, hasDefault });
    }
  }
  return schema;
}

/** Describes everything that an insert or a query of the previous version needs and no longer finds. */
function broken(before: Schema, after: Schema): readonly string[] {
  const lost = [...before].flatMap(([name, was]) => {
    const is = after.get(name);
    if (is === undefined) return [`${name} is gone`];
    if (was === 'table' || is === 'table') return [];
    if (was.type !== is.type) return [`${name} has another type`];
    return (was.isNullable || was.hasDefault) && !is.isNullable && !is.hasDefault
      ? [`${name} is required`]
      : [];
  });
  const added = [...after].filter(([name, is]) => {
    const [table = ''] = name.split('.');
    return before.has(table) && !before.has(name) && is !== 'table' && !is.isNullable && !is.hasDefault;
  });
  return [...lost, ...added.map(([name]) => `${name} is required`)];
}
