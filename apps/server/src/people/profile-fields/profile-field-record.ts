import { z } from 'zod';
import type { ProfileFieldType } from './profile-field-types.js';

/** A profile field, shared by all users. */
export interface ProfileField {
  readonly id: number;
  readonly type: ProfileFieldType;
  readonly name: string;
  readonly hint: string;
  /** JSON; empty for types without data. */
  readonly fieldData: string;
  /** Sort key, ascending. */
  readonly order: number;
  readonly isRequired: boolean;
  readonly isEditableByUser: boolean;
  readonly isInSummary: boolean;
  /** Whether clients also match this field's value when they search for users. */
  readonly isForMatching: boolean;
}

/** A profile field in responses and events. */
export const profileFieldRecord = z.object({
  id: z.number().int(),
  type: z.number().int(),
  name: z.string(),
  hint: z.string(),
  /** JSON; empty for types without data. */
  field_data: z.string(),
  order: z.number().int(),
  required: z.boolean(),
  editable_by_user: z.boolean(),
  use_for_user_matching: z.boolean(),
  /** Present only if true. */
  display_in_profile_summary: z.literal(true).optional(),
});

/** Converts a field to its wire format. */
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
    use_for_user_matching: field.isForMatching,
    ...(field.isInSummary ? { display_in_profile_summary: true as const } : {}),
  };
}
