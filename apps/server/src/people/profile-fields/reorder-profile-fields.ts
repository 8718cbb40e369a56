import { refused } from '@waxwing/protocol';
import { jsonParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { possibleIdList } from '../permissions/id-lists.js';
import { changeProfileFields } from './change-profile-fields.js';
import { orderProfileFields } from './profile-field-store.js';

/**
 * `PATCH /api/v1/realm/profile_fields`: reorders the fields by the given list of ids. Publishes an event to all users.
 * Errors: UNAUTHORIZED_PRINCIPAL for requesters who are not administrators; BAD_REQUEST for a list that does not
 * contain each field exactly once.
 */
export const reorderProfileFields = operation({
  method: 'PATCH',
  path: '/api/v1/realm/profile_fields',
  summary: 'Reorders custom profile fields.',
  actor: administrator,
  parameters: z.object({ order: jsonParameter(possibleIdList) }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { order: ids } }) {
    await changeProfileFields(context, actor, async (transaction, fields) => {
      const isEachOnce = ids.length === fields.length && fields.every(({ id }) => ids.includes(id));
      if (!isEachOnce) throw refused('Invalid order mapping.');
      await orderProfileFields(transaction, ids);
    });
    return {};
  },
});
