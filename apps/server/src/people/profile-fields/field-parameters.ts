import type { JsonObject } from '@waxwing/protocol';
import { booleanParameter, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { FieldUpdateRequest } from './plan-profile-field.js';

/** The parameters shared by the operations that create and update a field. */
export const fieldParameters = {
  name: z.string().optional(),
  hint: z.string().optional(),
  field_data: optionalJsonParameter(z.record(z.string(), z.unknown(), 'must be an object')),
  display_in_profile_summary: booleanParameter.optional(),
  required: booleanParameter.optional(),
  editable_by_user: booleanParameter.optional(),
  use_for_user_matching: booleanParameter.optional(),
};

/** Converts the parameters to a {@link FieldUpdateRequest}. */
export function fieldRequest(parameters: z.output<z.ZodObject<typeof fieldParameters>>): FieldUpdateRequest {
  return {
    name: parameters.name,
    hint: parameters.hint,
    fieldData: parameters.field_data as JsonObject | undefined,
    isInSummary: parameters.display_in_profile_summary,
    isRequired: parameters.required,
    isEditableByUser: parameters.editable_by_user,
    isForMatching: parameters.use_for_user_matching,
  };
}
