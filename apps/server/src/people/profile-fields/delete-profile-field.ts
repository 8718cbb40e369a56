import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { changeProfileFields, requireField } from './change-profile-fields.js';
import { removeProfileField } from './profile-field-store.js';

/**
 * `DELETE /api/v1/realm/profile_fields/{field_id}`: deletes a field and all its values. Publishes the remaining fields
 * to all users. Errors: UNAUTHORIZED_PRINCIPAL for requesters who are not administrators; BAD_REQUEST for an unknown
 * field.
 */
export const deleteProfileField = operation({
  method: 'DELETE',
  path: '/api/v1/realm/profile_fields/{field_id}',
  summary: 'Deletes a custom profile field.',
  actor: administrator,
  parameters: z.object({ field_id: integerParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { field_id: id } }) {
    await changeProfileFields(context, actor, async (transaction, fields) => {
      await removeProfileField(transaction, requireField(fields, id).id);
    });
    return {};
  },
});
