import type { UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

/** Profile field tables. Booleans are 0 or 1. */
export interface ProfileFieldTables {
  profile_fields: {
    id: Generated<number>;
    type: number;
    name: string;
    hint: string;
    /** JSON; empty for types without data. */
    field_data: string;
    /** Sort key, ascending. Null until the fields are reordered; until then, the id is the sort key. */
    position: number | null;
    is_required: number;
    is_editable_by_user: number;
    is_in_summary: number;
    /** Whether clients also match this field's value when they search for users. */
    is_for_matching: Generated<number>;
  };
  profile_values: {
    user_id: UserId;
    field_id: number;
    value: string;
    /** HTML; null for fields that are not Markdown. */
    rendered_value: string | null;
  };
}

const { integer, text } = columnTypes;

/** Adds the column that marks fields whose value clients match when they search for users. */
export async function addMatchingFields(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('profile_fields')
    .addColumn('is_for_matching', integer, (column) => column.notNull().defaultTo(0))
    .execute();
}

export async function createProfileFields(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('profile_fields'))
    .addColumn('type', integer, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull().unique())
    .addColumn('hint', text, (column) => column.notNull())
    .addColumn('field_data', text, (column) => column.notNull())
    .addColumn('position', integer)
    .addColumn('is_required', integer, (column) => column.notNull())
    .addColumn('is_editable_by_user', integer, (column) => column.notNull())
    .addColumn('is_in_summary', integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('profile_values')
    .addColumn('user_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('field_id', integer, (column) =>
      column.notNull().references('profile_fields.id').onDelete('cascade'),
    )
    .addColumn('value', text, (column) => column.notNull())
    .addColumn('rendered_value', text)
    .addPrimaryKeyConstraint('profile_values_pair', ['user_id', 'field_id'])
    .execute();
  await db.schema.createIndex('profile_values_field_id').on('profile_values').column('field_id').execute();
}
