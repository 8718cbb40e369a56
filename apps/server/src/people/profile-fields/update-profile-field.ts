import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { changeProfileFields, requireField } from './change-profile-fields.js';
import { fieldParameters, fieldRequest } from './field-parameters.js';
import { optionsOf, planFieldUpdate } from './plan-profile-field.js';
import { storeProfileField } from './profile-field-store.js';

/**
 * `PATCH /api/v1/realm/profile_fields/{field_id}`: changes a field, except its type. Deletes values that select a
 * removed option. Publishes the fields to all users. Errors: UNAUTHORIZED_PRINCIPAL for requesters who are not
 * administrators; BAD_REQUEST for an unknown field, values that `createProfileField` refuses, and a change of the name,
 * hint or data of a well-known account.
 */
export const updateProfileField = operation({
  method: 'PATCH',
  path: '/api/v1/realm/profile_fields/{field_id}',
  summary: 'Updates a custom profile field.',
  actor: administrator,
  parameters: z.object({ ...fieldParameters, field_id: integerParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    await changeProfileFields(context, actor, async (transaction, fields) => {
      const field = requireField(fields, parameters.field_id);
      const planned = planFieldUpdate(fields, field, fieldRequest(parameters));
      await storeProfileField(transaction, field.id, planned, optionsOf(planned));
    });
    return {};
  },
});
