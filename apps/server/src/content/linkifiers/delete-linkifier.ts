import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { changeLinkifiers } from './change-linkifiers.js';
import { removeLinkifier } from './linkifier-store.js';
import { noSuchLinkifier } from './plan-linkifier.js';

/**
 * `DELETE /api/v1/realm/filters/{filter_id}`: removes a linkifier. Existing messages keep their links. Notifies all
 * users. Errors: UNAUTHORIZED_PRINCIPAL for actors who are not administrators; BAD_REQUEST for an unknown linkifier.
 */
export const deleteLinkifier = operation({
  method: 'DELETE',
  path: '/api/v1/realm/filters/{filter_id}',
  summary: 'Deletes a linkifier.',
  actor: administrator,
  parameters: z.object({ filter_id: integerParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { filter_id: id } }) {
    await changeLinkifiers(context, actor, async ({ db }) => {
      if (!(await removeLinkifier(db, id))) throw noSuchLinkifier();
    });
    return {};
  },
});
