import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { changeLinkifiers } from './change-linkifiers.js';
import { linkifierLevels, linkifierParameters } from './linkifier-parameters.js';
import { storeLinkifier } from './linkifier-store.js';
import { bareLinkifier, noSuchLinkifier, planLinkifier, requireFree } from './plan-linkifier.js';

/**
 * `PATCH /api/v1/realm/filters/{filter_id}`: changes a linkifier's pattern and templates but not its position. Omitted
 * optional fields stay unchanged. Existing messages are not rendered again. Notifies all users. Errors:
 * UNAUTHORIZED_PRINCIPAL for actors who are not administrators; BAD_REQUEST for an unknown linkifier, and for values
 * that `createLinkifier` rejects.
 */
export const updateLinkifier = operation({
  method: 'PATCH',
  path: '/api/v1/realm/filters/{filter_id}',
  summary: 'Updates a linkifier.',
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
