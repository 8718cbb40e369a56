import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { changeLinkifiers } from './change-linkifiers.js';
import { storeLinkifier } from './linkifier-store.js';
import { noSuchLinkifier, planLinkifier, requireFree } from './plan-linkifier.js';

/**
 * `PATCH /api/v1/realm/filters/{filter_id}`: changes a linkifier's pattern and URL template and keeps its position.
 * Existing messages are not rendered again. Notifies all users. Refuses with UNAUTHORIZED_PRINCIPAL actors who are not
 * administrators, and with BAD_REQUEST an unknown linkifier and values that are refused for a new one.
 */
export const updateLinkifier = operation({
  method: 'PATCH',
  path: '/api/v1/realm/filters/{filter_id}',
  summary: 'Changes a linkifier.',
  actor: administrator,
  parameters: z.object({ filter_id: integerParameter, pattern: z.string(), url_template: z.string() }),
  since: { url_template: 176 },
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { filter_id: id } = parameters;
    const planned = planLinkifier(parameters);
    await changeLinkifiers(context, actor, async ({ db }, all) => {
      requireFree(all, planned.pattern, id);
      if (!(await storeLinkifier(db, id, planned))) throw noSuchLinkifier();
    });
    return {};
  },
});
