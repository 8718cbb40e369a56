import { refused, type UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import type { Kysely } from 'kysely';
import { ascendingIds } from '../../../people/permissions/ascending-ids.js';
import { membersAmong } from '../../../people/permissions/nested-membership.js';
import {
  holdsPermissions,
  type PermissionKey,
  roleGroupId,
  roleGroupIds,
} from '../../../people/permissions/permission-store.js';
import { wholeRealm } from '../../../people/permissions/permission-tables.js';
import type { KnownUser } from '../../../platform/authentication/credential-store.js';
import type { ServerTables } from '../../../tables.js';
import { findConversations, participantsKey } from '../conversation-store.js';
import { findRecipients, type Recipient } from './find-recipients.js';
import type { NamedRecipient } from './read-destination.js';

/** The input to the rules for direct messages. */
export interface DirectSendingFacts {
  readonly sender: Pick<KnownUser, 'id' | 'isBot'>;
  readonly recipients: readonly Recipient[];
  /** Whether the sender or one of the recipients may take part in direct messages. */
  readonly isPermitted: boolean;
  /** Whether the conversation already exists. */
  readonly hasBegun: boolean;
  readonly mayBegin: boolean;
}

const initiator: PermissionKey = {
  level: 'realm',
  ownerId: wholeRealm,
  name: 'direct_message_initiator_group',
};
const permission = { level: 'realm', ownerId: wholeRealm, name: 'direct_message_permission_group' } as const;

export async function readDirectSending(
  db: Kysely<ServerTables>,
  realm: Pick<PushRealm, 'url'>,
  sender: KnownUser,
  names: readonly NamedRecipient[],
): Promise<DirectSendingFacts> {
  if (names.length === 0) throw refused('Message must have recipients');
  const recipients = await findRecipients(db, realm, sender, names);
  const key = participantsKey([sender.id, ...recipients.map(({ id }) => id)]);
  const [mayBegin = false, isSenderPermitted = false] = await holdsPermissions(db, sender, [
    initiator,
    permission,
  ]);
  return {
    sender,
    recipients,
    isPermitted: isSenderPermitted || (await isAnyPermitted(db, recipients)),
    hasBegun: (await findConversations(db, [key])).size > 0,
    mayBegin,
  };
}

/**
 * Checks the rules and returns all participants, including the sender. Messages from bots, and messages only to bots or
 * oneself, are always permitted.
 * @throws ProtocolError BAD_REQUEST if the organization does not permit direct messages between these users.
 */
export function planParticipants(facts: DirectSendingFacts): UserId[] {
  const { sender, recipients, isPermitted, hasBegun, mayBegin } = facts;
  const isFree = sender.isBot || recipients.every(({ id, isBot }) => isBot || id === sender.id);
  if (!isFree && !isPermitted) throw refused('Direct messages are disabled in this organization.');
  if (!isFree && !hasBegun && !mayBegin)
    throw refused('You do not have permission to initiate direct message conversations.');
  return ascendingIds([sender.id, ...recipients.map(({ id }) => id)]);
}

async function isAnyPermitted(db: Kysely<ServerTables>, recipients: readonly Recipient[]): Promise<boolean> {
  const row = await db
    .selectFrom('permissions')
    .select('group_id')
    .where('level', '=', 'realm')
    .where('name', '=', permission.name)
    .executeTakeFirst();
  const groupId = row?.group_id ?? roleGroupId(await roleGroupIds(db), 'role:everyone');
  const ids = recipients.map(({ id }) => id);
  return ((await membersAmong(db, ids, [groupId])).get(groupId)?.size ?? 0) > 0;
}
