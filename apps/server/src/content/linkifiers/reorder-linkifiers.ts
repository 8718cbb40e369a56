import { jsonParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { idList } from '../../people/permissions/id-lists.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { changeLinkifiers } from './change-linkifiers.js';
import { orderLinkifiers } from './linkifier-store.js';
import { requireOrder } from './plan-linkifier.js';

/**
 * `PATCH /api/v1/realm/linkifiers`: puts the linkifiers into the order of the given ids. If several linkifiers match
 * the same text, the first one applies. Notifies all users. Errors: UNAUTHORIZED_PRINCIPAL for actors who are not
 * administrators; BAD_REQUEST for a list that does not contain each id exactly once.
 */
export const reorderLinkifiers = operation({
  method: 'PATCH',
  path: '/api/v1/realm/linkifiers',
  summary: 'Reorders linkifiers.',
  actor: administrator,
  parameters: z.object({ ordered_linkifier_ids: jsonParameter(idList) }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { ordered_linkifier_ids: ids } }) {
    await changeLinkifiers(context, actor, async ({ db }, all) => {
      requireOrder(all, ids);
      await orderLinkifiers(db, ids);
    });
    return {};
  },
});
