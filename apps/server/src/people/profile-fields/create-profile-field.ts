import { integerParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { changeProfileFields } from './change-profile-fields.js';
import { fieldParameters, fieldRequest } from './field-parameters.js';
import { planProfileField } from './plan-profile-field.js';
import { insertProfileField } from './profile-field-store.js';

/**
 * `POST /api/v1/realm/profile_fields` (docs/chat-api.md, section 5): creates a profile field at the last position. A
 * field for accounts at a well-known site gets that site's name, hint and URL pattern, regardless of the values that the
 * client sends. Publishes an event to all users.
 *
 * Errors: UNAUTHORIZED_PRINCIPAL for requesters who are not administrators; BAD_REQUEST for an invalid type, name, hint
 * or data, a taken name, a third summary field, and a type that is not allowed in the summary.
 */
export const createProfileField = operation({
  method: 'POST',
  path: '/api/v1/realm/profile_fields',
  summary: 'Creates a custom profile field.',
  actor: administrator,
  parameters: z.object({ ...fieldParameters, field_type: integerParameter }),
  answer: z.object({ id: z.number().int() }),
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const requested = fieldRequest(parameters);
    return changeProfileFields(context, actor, async (transaction, fields) => {
      const planned = planProfileField(fields, {
        type: parameters.field_type,
        name: requested.name ?? '',
        hint: requested.hint ?? '',
        fieldData: requested.fieldData ?? {},
        isRequired: requested.isRequired ?? false,
        isEditableByUser: requested.isEditableByUser ?? true,
        isInSummary: requested.isInSummary ?? false,
        isForMatching: requested.isForMatching ?? false,
      });
      return { id: await insertProfileField(transaction, planned) };
    });
  },
});
