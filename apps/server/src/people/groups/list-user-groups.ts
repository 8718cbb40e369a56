import { booleanParameter, ListAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { nonGuest } from '../../platform/authentication/authenticate.js';
import { groupRecord, writeGroup } from './group-record.js';
import { groupPages } from './group-store.js';

/**
 * `GET /api/v1/user_groups`: returns all groups with their direct members, ordered by id, including role groups.
 * Includes deactivated groups only on request. Streams the list in pages; each page is current when it is read. Errors:
 * BAD_REQUEST for guests.
 */
export const listUserGroups = operation({
  method: 'GET',
  path: '/api/v1/user_groups',
  summary: 'Lists user groups, with their members, subgroups and permissions.',
  actor: nonGuest,
  parameters: z.object({ include_deactivated_groups: booleanParameter.default(false) }),
  answer: z.object({ user_groups: z.array(groupRecord) }),
  codes: ['BAD_REQUEST'],
  async handle({ database }: ServerContext, { parameters }) {
    const includesDeactivated = parameters.include_deactivated_groups;
    const pages = async function* () {
      for await (const groups of groupPages(database.db, { includesDeactivated }))
        yield groups.map(writeGroup);
    };
    return new ListAnswer('user_groups', pages(), {});
  },
});
