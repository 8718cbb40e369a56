import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

export interface PlaygroundTables {
  /** No two have the same language and name. */
  playgrounds: {
    id: Generated<number>;
    name: string;
    /** As a code block's HTML names it. */
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
