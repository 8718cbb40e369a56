import { noParameters, operation } from '@waxwing/service/http';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { isAdministrator } from '../../platform/authentication/require-administrator.js';
import { requireMember } from '../../platform/authentication/require-member.js';
import { listInvitations } from './invitation-store.js';

/**
 * `GET /api/v1/invites`: returns the valid invitations. Administrators get all, other users their own. The response has
 * no links, because the server stores only their digests. Errors: BAD_REQUEST for guests and bots.
 */
export const getInvitations = operation({
  method: 'GET',
  path: '/api/v1/invites',
  summary: 'Lists valid invitations.',
  actor: user,
  parameters: noParameters,
  answer: z.object({
    invites: z.array(
      z.object({
        id: z.number().int(),
        invited: z.number().int(),
        expiry_date: z.number().int().nullable(),
        invited_by_user_id: z.number().int(),
        invited_as: z.number().int(),
        is_multiuse: z.literal(true),
        link_url: z.null(),
      }),
    ),
  }),
  codes: ['BAD_REQUEST'],
  async handle({ clock, database: { db } }: ServerContext, { actor }) {
    requireMember(actor);
    const found = await listInvitations(db, clock(), isAdministrator(actor.role) ? undefined : actor.id);
    const invites = found.map(({ id, inviter, role, createdAt, expiresAt }) => ({
      id,
      invited: unixSeconds(createdAt),
      expiry_date: expiresAt === undefined ? null : unixSeconds(expiresAt),
      invited_by_user_id: inviter.id,
      invited_as: role,
      is_multiuse: true as const,
      link_url: null,
    }));
    return { invites };
  },
});
