import type { UserId } from '@waxwing/protocol';
import { hashCredential } from '@waxwing/service/config';
import { generateApiKey } from '../authentication/api-key.js';
import { announcementsChannelId, announceNewcomer } from '../channel-administration/announcements.js';
import { lockChannels } from '../channels/channel-store.js';
import { defaultChannelIds } from '../channels/default-channels.js';
import { eventsOfJoining } from '../channels/subscription-events.js';
import { insertSubscriptions } from '../channels/subscription-store.js';
import type { ServerContext } from '../context.js';
import { everybody } from '../event-queues/everybody.js';
import { applyGroupChange, eventsOfChange } from '../groups/group-change.js';
import { writeGroup } from '../groups/group-record.js';
import { findGroups } from '../groups/group-store.js';
import { ascendingIds } from '../permissions/ascending-ids.js';
import { holdGroups } from '../permissions/hold-groups.js';
import type { ServerTransaction } from '../tables.js';
import { createUser } from '../users/create-user.js';
import { holdInvitation, type InvitationTerms } from './invitation-store.js';
import { sendWelcome } from './welcome-messages.js';

/** Whoever joins, by what they say of themselves. */
export interface Newcomer {
  readonly fullName: string;
  readonly email: string;
  /** As `hashPassword` writes it. */
  readonly passwordHash: string;
}

/**
 * Makes somebody a user on the terms of the invitation; their id, `undefined` where the invitation is not good any more.
 * What was promised and is not there any more, such as a channel that was archived since, is left out.
 * @throws ProtocolError BAD_REQUEST for an address or a name that cannot be had.
 */
export async function joinRealm(
  context: ServerContext,
  transaction: ServerTransaction,
  tokenHash: string,
  newcomer: Newcomer,
): Promise<UserId | undefined> {
  const { clock, publish, realm } = context;
  const now = clock();
  // Before all other locks, as whoever is new is put into groups.
  await holdGroups(transaction);
  const terms = await holdInvitation(transaction, tokenHash, now);
  if (terms === undefined) return undefined;
  const { id } = await createUser(
    transaction,
    { publish, realm, now },
    {
      ...newcomer,
      role: terms.role,
      isBot: false,
      botOwnerId: undefined,
      // Nobody knows this key: the first that they have is the one that signing in gives them.
      apiKeyHash: hashCredential(generateApiKey().reveal()),
    },
  );
  await enterChannels(context, transaction, { userId: id, terms, now });
  await enterGroups(context, transaction, { userId: id, terms });
  await sendWelcome(context, transaction, id, terms.welcomeText);
  return id;
}

interface Entering {
  readonly userId: UserId;
  readonly terms: InvitationTerms;
}

async function enterChannels(
  context: ServerContext,
  transaction: ServerTransaction,
  { userId, terms, now }: Entering & { readonly now: number },
): Promise<void> {
  const { db } = transaction;
  const defaults = terms.includesDefaults ? await defaultChannelIds(db) : [];
  const placeId = await announcementsChannelId(db, 'signup_announcements_stream_id');
  const entered = new Set([...terms.channelIds, ...defaults]);
  const ids = [...entered, ...(placeId === undefined ? [] : [placeId])];
  const open = (await lockChannels(transaction, ascendingIds(ids))).filter(({ isArchived }) => !isArchived);
  const channels = open.filter(({ id }) => entered.has(id));
  const memberships = channels.map(({ id: channelId }) => ({ channelId, userId }));
  const rows = await insertSubscriptions(db, memberships);
  await context.publish(transaction, await eventsOfJoining(db, { channels, rows, created: new Set(), now }));
  const place = open.find(({ id }) => id === placeId);
  if (place !== undefined) await announceNewcomer(transaction, context, place, userId);
}

async function enterGroups(
  { publish }: ServerContext,
  transaction: ServerTransaction,
  { userId, terms }: Entering,
): Promise<void> {
  const { db } = transaction;
  const groups = (await findGroups(db, terms.groupIds)).filter(({ isActive }) => isActive);
  const audience = groups.length === 0 ? [] : await everybody(db);
  for (const group of groups) {
    const change = { groupId: group.id, addedMembers: [userId] };
    await applyGroupChange(db, change);
    const told = eventsOfChange(change, { wasActive: true, now: writeGroup(group) });
    await publish(
      transaction,
      told.map((each) => ({ ...each, audience })),
    );
  }
}
