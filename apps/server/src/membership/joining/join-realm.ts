import type { UserId } from '@waxwing/protocol';
import { hashCredential } from '@waxwing/service/config';
import type { ServerContext } from '../../context.js';
import {
  announcementsChannelId,
  announceNewcomer,
} from '../../conversations/channel-administration/announcements.js';
import { type Channel, lockChannels } from '../../conversations/channels/channel-store.js';
import { defaultChannelIds } from '../../conversations/channels/default-channels.js';
import { eventsOfJoining } from '../../conversations/channels/subscription-events.js';
import { insertSubscriptions } from '../../conversations/channels/subscription-store.js';
import { applyGroupChange, eventsOfChange } from '../../people/groups/group-change.js';
import type { Group } from '../../people/groups/group-record.js';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import { lockGroups } from '../../people/permissions/lock-groups.js';
import { createUser } from '../../people/users/create-user.js';
import { generateApiKey } from '../../platform/authentication/api-key.js';
import type { ServerTransaction } from '../../tables.js';
import { readInvitationFacts } from '../invitations/invitation-facts.js';
import { type InvitationTerms, lockInvitation } from '../invitations/invitation-store.js';
import { grantableTerms } from '../invitations/plan-invitation.js';
import { sendWelcome } from './welcome-messages.js';

/** The values that a new user entered in the sign-up form, with the password hashed. */
export interface Newcomer {
  readonly fullName: string;
  readonly email: string;
  /** A result of `hashPassword`. */
  readonly passwordHash: string;
}

/**
 * Creates a user from an invitation, limited to what its inviter may still grant. Returns the new user's id, or
 * `undefined` if the invitation is expired or revoked, or if its inviter may no longer invite. Skips archived
 * channels, deactivated groups, and channels and groups that the inviter may no longer add users to.
 * @throws ProtocolError BAD_REQUEST for an address or a name that is invalid or taken.
 */
export async function joinRealm(
  context: ServerContext,
  transaction: ServerTransaction,
  tokenHash: string,
  newcomer: Newcomer,
): Promise<UserId | undefined> {
  const { clock, publish, realm } = context;
  const now = clock();
  // Takes the lock on groups first, to avoid deadlocks. This lock also keeps the inviter's rights unchanged until the
  // commit.
  await lockGroups(transaction);
  const invitation = await lockInvitation(transaction, tokenHash, now);
  if (invitation === undefined) return undefined;
  const { entered, announcements } = await lockEntered(transaction, invitation);
  const { inviter, groupIds } = invitation;
  const facts = await readInvitationFacts(transaction, inviter, { channels: entered, groupIds });
  const terms = grantableTerms(facts, invitation);
  if (terms === undefined) return undefined;
  const { id } = await createUser(
    transaction,
    { publish, realm, now },
    {
      ...newcomer,
      role: terms.role,
      isBot: false,
      botOwnerId: undefined,
      // No client gets this key. The user gets the first usable key at sign-in.
      apiKeyHash: hashCredential(generateApiKey().reveal()),
    },
  );
  const named = new Set(terms.channelIds);
  const channels = entered.filter(
    (channel) => named.has(channel.id) || (terms.includesDefaults && channel.isDefault),
  );
  await enterChannels(context, transaction, { userId: id, channels, now });
  if (announcements !== undefined) await announceNewcomer(transaction, context, announcements, id);
  await enterGroups(context, transaction, {
    userId: id,
    groups: terms.groupIds.flatMap((groupId) => facts.groups.get(groupId) ?? []),
  });
  await sendWelcome(context, transaction, id, terms.welcomeText);
  return id;
}

interface Entered {
  /** The channels of the invitation, including the default channels if it includes them. */
  readonly entered: readonly Channel[];
  /** The channel for announcements of new users; `undefined` if no channel is set or the channel is archived. */
  readonly announcements: Channel | undefined;
}

/** Locks all channels involved in joining, in ascending id order. Skips archived channels. */
async function lockEntered(transaction: ServerTransaction, terms: InvitationTerms): Promise<Entered> {
  const { db } = transaction;
  const defaults = terms.includesDefaults ? await defaultChannelIds(db) : [];
  const placeId = await announcementsChannelId(db, 'signup_announcements_stream_id');
  const wanted = new Set([...terms.channelIds, ...defaults]);
  const ids = [...wanted, ...(placeId === undefined ? [] : [placeId])];
  const locked = await lockChannels(transaction, ascendingIds(ids));
  const active = locked.filter(({ isArchived }) => !isArchived);
  return {
    entered: active.filter(({ id }) => wanted.has(id)),
    announcements: active.find(({ id }) => id === placeId),
  };
}

interface EnteringChannels {
  readonly userId: UserId;
  readonly channels: readonly Channel[];
  /** Unix milliseconds. */
  readonly now: number;
}

async function enterChannels(
  { publish }: ServerContext,
  transaction: ServerTransaction,
  { userId, channels, now }: EnteringChannels,
): Promise<void> {
  const { db } = transaction;
  const memberships = channels.map(({ id: channelId }) => ({ channelId, userId }));
  const joined = await insertSubscriptions(db, memberships);
  await publish(transaction, eventsOfJoining(db, { channels, joined, created: new Set(), now }));
}

interface EnteringGroups {
  readonly userId: UserId;
  /** The active groups of the invitation. */
  readonly groups: readonly Group[];
}

async function enterGroups(
  { publish }: ServerContext,
  transaction: ServerTransaction,
  { userId, groups }: EnteringGroups,
): Promise<void> {
  const { db } = transaction;
  for (const group of groups) {
    const change = { groupId: group.id, addedMembers: [userId] };
    await applyGroupChange(db, change);
    const notified = eventsOfChange(change, { wasActive: true });
    await publish(
      transaction,
      notified.map((each) => ({ ...each, audience: 'everyone' as const })),
    );
  }
}
