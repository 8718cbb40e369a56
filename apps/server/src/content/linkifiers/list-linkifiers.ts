import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { linkifierRecord, readLinkifiers } from './linkifier-store.js';

/**
 * `GET /api/v1/realm/linkifiers`: returns all linkifiers, in the order in which they are applied. Available to all
 * users and bots.
 */
export const listLinkifiers = operation({
  method: 'GET',
  path: '/api/v1/realm/linkifiers',
  summary: 'Lists linkifiers, in order.',
  actor: user,
  parameters: noParameters,
  answer: z.object({ linkifiers: z.array(linkifierRecord) }),
  codes: [],
  handle: async ({ database }: ServerContext) => ({ linkifiers: await readLinkifiers(database.db) }),
});
