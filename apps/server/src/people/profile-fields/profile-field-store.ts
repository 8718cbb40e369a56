import { lockExclusive } from '@waxwing/storage';
import type { Kysely, Selectable } from 'kysely';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import type { PlannedField } from './plan-profile-field.js';
import type { ProfileField } from './profile-field-record.js';
import type { ProfileFieldType } from './profile-field-types.js';

/** Returns all fields, in order. */
export async function readProfileFields(db: Kysely<ServerTables>): Promise<ProfileField[]> {
  const fields = (await db.selectFrom('profile_fields').selectAll().execute()).map(fromRow);
  return fields.sort((one, other) => one.order - other.order || one.id - other.id);
}

/** Like {@link readProfileFields}, but also locks the fields until the transaction ends. */
export async function lockProfileFields({ db }: ServerTransaction): Promise<ProfileField[]> {
  await lockExclusive(db, 'profile fields');
  return readProfileFields(db);
}

/** Inserts a field and returns its id. The caller must hold the lock on fields. */
export async function insertProfileField({ db }: ServerTransaction, field: PlannedField): Promise<number> {
  const { id } = await db
    .insertInto('profile_fields')
    .values({ ...toRow(field), position: null })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Updates a field, and deletes values that select a removed option. */
export async function storeProfileField(
  { db }: ServerTransaction,
  id: number,
  field: PlannedField,
  keptOptions: readonly string[] | undefined,
): Promise<void> {
  await db.updateTable('profile_fields').set(toRow(field)).where('id', '=', id).execute();
  if (keptOptions === undefined) return;
  const gone = db.deleteFrom('profile_values').where('field_id', '=', id);
  await gone.where('value', 'not in', keptOptions).execute();
}

/** Deletes a field and all its values. */
export async function removeProfileField({ db }: ServerTransaction, id: number): Promise<void> {
  await db.deleteFrom('profile_fields').where('id', '=', id).execute();
}

/** Numbers the fields from 0 in the order of `ids`. */
export async function orderProfileFields({ db }: ServerTransaction, ids: readonly number[]): Promise<void> {
  // Updates in ascending id order, the order in which profile changes lock the fields. A different order could
  // deadlock.
  for (const [position, id] of [...ids.entries()].sort(([, one], [, other]) => one - other)) {
    await db.updateTable('profile_fields').set({ position }).where('id', '=', id).execute();
  }
}

function toRow(field: PlannedField) {
  return {
    type: field.type,
    name: field.name,
    hint: field.hint,
    field_data: field.fieldData,
    is_required: field.isRequired ? 1 : 0,
    is_editable_by_user: field.isEditableByUser ? 1 : 0,
    is_in_summary: field.isInSummary ? 1 : 0,
    is_for_matching: field.isForMatching ? 1 : 0,
  };
}

function fromRow(row: Selectable<ServerTables['profile_fields']>): ProfileField {
  return {
    id: row.id,
    type: row.type as ProfileFieldType,
    name: row.name,
    hint: row.hint,
    fieldData: row.field_data,
    order: row.position ?? row.id,
    isRequired: row.is_required === 1,
    isEditableByUser: row.is_editable_by_user === 1,
    isInSummary: row.is_in_summary === 1,
    isForMatching: row.is_for_matching === 1,
  };
}
