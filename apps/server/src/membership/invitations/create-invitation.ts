import { hashCredential } from '@waxwing/service/config';
import {
  booleanParameter,
  integerParameter,
  jsonParameter,
  operation,
  optionalJsonParameter,
} from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { lockChannels } from '../../conversations/channels/channel-store.js';
import { channelIdList, groupIdList } from '../../people/permissions/id-lists.js';
import { lockGroups } from '../../people/permissions/lock-groups.js';
import { maximumWelcomeCharacters, welcomeBodyLimitBytes } from '../../people/realm/realm-limits.js';
import { textOfAtMost } from '../../people/realm/setting-shapes.js';
import { member } from '../../platform/authentication/authenticate.js';
import { type Role, roles } from '../../platform/authentication/roles.js';
import { readInvitationFacts } from './invitation-facts.js';
import { insertInvitation } from './invitation-store.js';
import { newInvitationToken } from './invitation-token.js';
import { planInvitation } from './plan-invitation.js';
import { publishInvitations } from './publish-invitations.js';

const minute = 60_000;
// Maximum validity: 100 years. With `null`, a link never expires.
const maximumMinutes = 100 * 366 * 24 * 60;
const maximumIds = 1000;

const minutes = z
  .number('must be a number of minutes, or null')
  .int('must be whole minutes')
  .positive('must be positive')
  .max(maximumMinutes, `must be at most ${maximumMinutes}`);
const tooMany = `must have at most ${maximumIds} entries`;
const channelIds = optionalJsonParameter(channelIdList.max(maximumIds, tooMany));
const groupIds = optionalJsonParameter(groupIdList.max(maximumIds, tooMany));

/**
 * `POST /api/v1/invites/multiuse` (docs/chat-api.md, section 6): creates a link that lets anyone join until it expires.
 * Only this response contains the link. Publishes an event to administrators and the inviter.
 *
 * Errors:
 *
 * - BAD_REQUEST for guests, bots, and requesters without the permission to create links
 * - BAD_REQUEST for channels that are unknown, archived or unreadable for the requester, and for channels that are not
 *   default channels if the requester cannot add subscribers to them
 * - BAD_REQUEST for unknown groups, role groups, and groups that the requester cannot add members to
 * - UNAUTHORIZED_PRINCIPAL for a role above the requester's own, and for a welcome text from a requester who is not an
 *   administrator
 */
export const createInvitation = operation({
  method: 'POST',
  path: '/api/v1/invites/multiuse',
  summary: 'Creates an invitation link.',
  actor: member,
  bodyLimitBytes: welcomeBodyLimitBytes,
  parameters: z.object({
    invite_expires_in_minutes: jsonParameter(minutes.nullable()).optional(),
    invite_as: integerParameter
      .refine((role) => Object.values<number>(roles).includes(role), 'must be a role')
      .optional(),
    stream_ids: channelIds,
    group_ids: groupIds,
    include_realm_default_subscriptions: booleanParameter.optional(),
    welcome_message_custom_text: textOfAtMost(maximumWelcomeCharacters).optional(),
  }),
  answer: z.object({ invite_link: z.string() }),
  codes: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { clock, invitationValidityMinutes, realm } = context;
    const { invite_expires_in_minutes: validFor = invitationValidityMinutes } = parameters;
    const { welcome_message_custom_text: text } = parameters;
    const now = clock();
    const requested = {
      role: (parameters.invite_as ?? roles.member) as Role,
      expiresAt: validFor === null ? undefined : now + validFor * minute,
      includesDefaults: parameters.include_realm_default_subscriptions ?? false,
      // The parameter is a plain string, so the string `null` is the only way to send null.
      welcomeText: text === 'null' ? undefined : text,
      channelIds: parameters.stream_ids ?? [],
      groupIds: parameters.group_ids ?? [],
    };
    const token = newInvitationToken();
    const tokenHash = hashCredential(token.reveal());
    await actor.change(async (transaction, locked) => {
      const { groupIds } = requested;
      const channels = await lockChannels(transaction, requested.channelIds);
      const terms = planInvitation(
        await readInvitationFacts(transaction, locked, { channels, groupIds }),
        requested,
      );
      await insertInvitation(transaction.db, { inviterId: locked.id, tokenHash, now }, terms);
      await publishInvitations(context, transaction, locked.id);
    }, lockGroups);
    return { invite_link: `${realm.url}/join/${token.reveal()}/` };
  },
});
