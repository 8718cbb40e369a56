import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { changeLinkifiers } from './change-linkifiers.js';
import { linkifierLevels, linkifierParameters } from './linkifier-parameters.js';
import { insertLinkifier } from './linkifier-store.js';
import { bareLinkifier, planLinkifier, requireFree, requireRoom } from './plan-linkifier.js';

/**
 * `POST /api/v1/realm/filters`: adds a linkifier at the last position. Text that matches `pattern` (RE2 syntax) becomes
 * a link to `url_template` (RFC 6570) in messages that are sent or edited from then on. Notifies all users. Errors:
 * UNAUTHORIZED_PRINCIPAL for actors who are not administrators; BAD_REQUEST with `errors` if the pattern or template is
 * invalid, their variables differ, the example does not match, another linkifier has the same pattern, or there are too
 * many linkifiers.
 */
export const createLinkifier = operation({
  method: 'POST',
  path: '/api/v1/realm/filters',
  summary: 'Creates a linkifier.',
  actor: administrator,
  parameters: z.object(linkifierParameters),
  since: linkifierLevels,
  answer: z.object({ id: z.number().int() }),
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const planned = planLinkifier(parameters, bareLinkifier);
    return changeLinkifiers(context, actor, async ({ db }, all) => {
      requireFree(all, planned.pattern);
      requireRoom(all);
      return { id: await insertLinkifier(db, planned) };
    });
  },
});
