import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import { administrator } from '../authentication/authenticate.js';
import type { ServerContext } from '../context.js';
import { changeLinkifiers } from './change-linkifiers.js';
import { insertLinkifier } from './linkifier-store.js';
import { planLinkifier, requireFree, requireRoom } from './plan-linkifier.js';

/**
 * `POST /api/v1/realm/filters`: adds a linkifier, the last one: what matches `pattern` (RE2's syntax) becomes a link to
 * `url_template` (RFC 6570) in every message that is sent or edited from now on. Everybody is told. Refuses with
 * UNAUTHORIZED_PRINCIPAL whoever is no administrator; with BAD_REQUEST, and `errors`, a bad pattern or template, two that
 * do not have the same names, a pattern that there is, and one too many.
 */
export const createLinkifier = operation({
  method: 'POST',
  path: '/api/v1/realm/filters',
  summary: 'Adds a linkifier.',
  actor: administrator,
  parameters: z.object({ pattern: z.string(), url_template: z.string() }),
  since: { url_template: 176 },
  answer: z.object({ id: z.number().int() }),
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const planned = planLinkifier(parameters);
    return changeLinkifiers(context, actor, async ({ db }, all) => {
      requireFree(all, planned.pattern);
      requireRoom(all);
      return { id: await insertLinkifier(db, planned) };
    });
  },
});
