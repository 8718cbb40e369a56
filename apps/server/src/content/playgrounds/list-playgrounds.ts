import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { playgroundRecord, readPlaygrounds } from './playground-store.js';

/** `GET /api/v1/realm/playgrounds`: returns all playgrounds, oldest first. Available to all users and bots. */
export const listPlaygrounds = operation({
  method: 'GET',
  path: '/api/v1/realm/playgrounds',
  summary: 'Lists playgrounds, in the format of `POST /api/v1/register`.',
  actor: user,
  parameters: noParameters,
  answer: z.object({ realm_playgrounds: z.array(playgroundRecord) }),
  codes: [],
  handle: async ({ database }: ServerContext) => ({ realm_playgrounds: await readPlaygrounds(database.db) }),
});
