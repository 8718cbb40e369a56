import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

export interface LinkifierTables {
  /** Patterns are unique. */
  linkifiers: {
    id: Generated<number>;
    /** RE2 syntax. */
    pattern: string;
    /** RFC 6570. */
    url_template: string;
    /** Sort position, lowest first. */
    position: number;
  };
}

const { integer, text } = columnTypes;

export async function createLinkifiers(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('linkifiers'))
    .addColumn('pattern', text, (column) => column.notNull())
    .addColumn('url_template', text, (column) => column.notNull())
    .addColumn('position', integer, (column) => column.notNull())
    .addUniqueConstraint('linkifiers_pattern', ['pattern'])
    .execute();
}
