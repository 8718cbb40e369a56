import { z } from 'zod';
import type { ProfileFieldType } from './profile-field-types.js';

/** A field of the profiles of all users. */
export interface ProfileField {
  readonly id: number;
  readonly type: ProfileFieldType;
  readonly name: string;
  readonly hint: string;
  /** JSON; empty for types that have none. */
  readonly fieldData: string;
  /** Its place among the others, the least one first. */
  readonly order: number;
  readonly isRequired: boolean;
  readonly isEditableByUser: boolean;
  readonly isInSummary: boolean;
}

/** A profile field in answers and events. */
export const profileFieldRecord = z.object({
  id: z.number().int(),
  type: z.number().int(),
  name: z.string(),
  hint: z.string(),
  /** JSON; empty for types that have none. */
  field_data: z.string(),
  order: z.number().int(),
  required: z.boolean(),
  editable_by_user: z.boolean(),
  /** Only where it is true. */
  display_in_profile_summary: z.literal(true).optional(),
});

/** The field as answers and events have it. */
export function writeProfileField(field: ProfileField) {
  return {
    id: field.id,
    type: field.type,
    name: field.name,
    hint: field.hint,
    field_data: field.fieldData,
    order: field.order,
    required: field.isRequired,
    editable_by_user: field.isEditableByUser,
    ...(field.isInSummary ? { display_in_profile_summary: true as const } : {}),
  };
}
