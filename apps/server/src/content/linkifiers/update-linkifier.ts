import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { changeLinkifiers } from './change-linkifiers.js';
import { linkifierLevels, linkifierParameters } from './linkifier-parameters.js';
import { storeLinkifier } from './linkifier-store.js';
import { bareLinkifier, noSuchLinkifier, planLinkifier, requireFree } from './plan-linkifier.js';

/**
 * `PATCH /api/v1/realm/filters/{filter_id}`: changes a linkifier's pattern and templates and keeps its position. An example
 * and templates for pasted URLs that are not given stay.
 * Existing messages are not rendered again. Notifies all users. Refuses with UNAUTHORIZED_PRINCIPAL actors who are not
 * administrators, and with BAD_REQUEST an unknown linkifier and values that are refused for a new one.
 */
export const updateLinkifier = operation({
  method: 'PATCH',
  path: '/api/v1/realm/filters/{filter_id}',
  summary: 'Changes a linkifier.',
  actor: administrator,
  parameters: z.object({ filter_id: integerParameter, ...linkifierParameters }),
  since: linkifierLevels,
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { filter_id: id } = parameters;
    await changeLinkifiers(context, actor, async ({ db }, all) => {
      const before = all.find((each) => each.id === id);
      const planned = planLinkifier(parameters, before ?? bareLinkifier);
      requireFree(all, planned.pattern, id);
      if (!(await storeLinkifier(db, id, planned))) throw noSuchLinkifier();
    });
    return {};
  },
});
