import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

export interface LinkifierTables {
  /** Each pattern is unique. */
  linkifiers: {
    id: Generated<number>;
    /** RE2 syntax. */
    pattern: string;
    /** RFC 6570. */
    url_template: string;
    /** An example text that the pattern matches. Null if there is no example. */
    example_input: string | null;
    /** Template for the text that clients insert in place of a pasted URL. Null if clients keep the URL. */
    reverse_template: string | null;
    /**
     * JSON array of additional URL templates. Clients also apply `reverse_template` to pasted URLs that match one of
     * these.
     */
    alternative_url_templates: Generated<string>;
    /** Sort position, lowest first. */
    position: number;
  };
}

const { integer, text } = columnTypes;

/** Adds the columns for the text that clients insert in place of a pasted URL. */
export async function addLinkifierTemplates(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('linkifiers').addColumn('example_input', text).execute();
  await db.schema.alterTable('linkifiers').addColumn('reverse_template', text).execute();
  await db.schema
    .alterTable('linkifiers')
    .addColumn('alternative_url_templates', text, (column) => column.notNull().defaultTo('[]'))
    .execute();
}

export async function createLinkifiers(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('linkifiers'))
    .addColumn('pattern', text, (column) => column.notNull())
    .addColumn('url_template', text, (column) => column.notNull())
    .addColumn('position', integer, (column) => column.notNull())
    .addUniqueConstraint('linkifiers_pattern', ['pattern'])
    .execute();
}
