import { renderMarkdown } from '@waxwing/markdown';
import type { JsonObject, UserId } from '@waxwing/protocol';
import { amongNumbers, keepingRows } from '@waxwing/storage';
import type { Kysely, Transaction } from 'kysely';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import type { PlannedValue, ProfileValueFacts, ProfileValueRequest } from './plan-profile-values.js';
import type { ProfileFieldType } from './profile-field-types.js';
import { listedIds } from './profile-value-rules.js';

type Reader = Kysely<ServerTables>;

/** A profile's values, by field id. */
export type ProfileData = Record<string, { value: string; rendered_value?: string }>;

/**
 * Reads the profiles of these users in one statement. The returned function returns an empty object for a user without
 * values.
 */
export async function readProfileData(
  db: Reader,
  userIds: readonly UserId[],
): Promise<(userId: UserId) => ProfileData> {
  const rows = await db
    .selectFrom('profile_values')
    .selectAll()
    .where('user_id', 'in', amongNumbers(db, userIds))
    .orderBy('field_id')
    .execute();
  const found = new Map<UserId, ProfileData>();
  for (const { user_id: userId, field_id: fieldId, value, rendered_value: html } of rows) {
    const data = found.get(userId) ?? {};
    data[fieldId] = { value, ...(html === null ? {} : { rendered_value: html }) };
    found.set(userId, data);
  }
  return (userId) => found.get(userId) ?? {};
}

/** The user to change, and the rights of the actor. */
interface ProfileOwner {
  readonly userId: UserId;
  /** Whether an administrator makes the change. */
  readonly mayEditAll: boolean;
}

/** Reads the facts for a profile change, and locks the fields (shared) until the transaction ends. */
export async function readValueFacts(
  { db }: ServerTransaction,
  { userId, mayEditAll }: ProfileOwner,
  requests: readonly ProfileValueRequest[],
): Promise<ProfileValueFacts> {
  const fieldIds = requests.map(({ id }) => id);
  const fields = await db
    .selectFrom('profile_fields')
    .selectAll()
    .where('id', 'in', amongNumbers(db, fieldIds))
    .orderBy('id')
    .modifyEnd(keepingRows(db))
    .execute();
  const current = (await readProfileData(db, [userId]))(userId);
  const named = requests.flatMap(({ value }) => (listedIds(value) ?? []) as UserId[]);
  const users = await db
    .selectFrom('users')
    .select(['id', 'is_active', 'is_bot'])
    .where('id', 'in', amongNumbers(db, named))
    .execute();
  return {
    mayEditAll,
    fields: new Map(
      fields.map((field) => [
        field.id,
        {
          type: field.type as ProfileFieldType,
          name: field.name,
          fieldData: field.field_data,
          isEditableByUser: field.is_editable_by_user === 1,
        },
      ]),
    ),
    current: new Map(Object.entries(current).map(([id, { value }]) => [Number(id), value])),
    people: new Map(
      users.map(({ id, is_active, is_bot }) => [id, { isActive: is_active === 1, isBot: is_bot === 1 }]),
    ),
  };
}

/** An event about a changed profile. */
export type ProfileEvent = JsonObject & { readonly type: string };

/** Stores the changed values and returns the events to publish, in order. */
export async function applyProfileValues(
  { db }: ServerTransaction,
  userId: UserId,
  values: readonly PlannedValue[],
  realmUrl: string,
): Promise<ProfileEvent[]> {
  const written = values.map(({ fieldId, value, isMarkdown }) => ({
    fieldId,
    value,
    html: isMarkdown && value !== null ? renderMarkdown(value, { realmUrl }).html : null,
  }));
  // Writes in the order of field ids. With different orders, concurrent changes to the same profile could deadlock.
  for (const each of [...written].sort((one, other) => one.fieldId - other.fieldId)) {
    await storeValue(db, userId, each);
  }
  return written.map(({ fieldId: id, value, html }) => {
    const field = { id, value, ...(html === null ? {} : { rendered_value: html }) };
    return { type: 'realm_user', op: 'update', person: { user_id: userId, custom_profile_field: field } };
  });
}

interface WrittenValue {
  readonly fieldId: number;
  readonly value: string | null;
  readonly html: string | null;
}

async function storeValue(
  db: Transaction<ServerTables>,
  userId: UserId,
  { fieldId, value, html }: WrittenValue,
): Promise<void> {
  if (value === null) {
    const gone = db.deleteFrom('profile_values').where('user_id', '=', userId);
    await gone.where('field_id', '=', fieldId).execute();
    return;
  }
  const said = { value, rendered_value: html };
  await db
    .insertInto('profile_values')
    .values({ user_id: userId, field_id: fieldId, ...said })
    .onConflict((conflict) => conflict.columns(['user_id', 'field_id']).doUpdateSet(said))
    .execute();
}
