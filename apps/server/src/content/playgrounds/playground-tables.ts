import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

export interface PlaygroundTables {
  /** Pairs of language and name are unique. */
  playgrounds: {
    id: Generated<number>;
    name: string;
    /** The language's name in the HTML of code blocks. */
    language: string;
    /** RFC 6570. */
    url_template: string;
  };
}

const { text } = columnTypes;

export async function createPlaygrounds(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('playgrounds'))
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('language', text, (column) => column.notNull())
    .addColumn('url_template', text, (column) => column.notNull())
    .addUniqueConstraint('playgrounds_language_name', ['language', 'name'])
    .execute();
}
