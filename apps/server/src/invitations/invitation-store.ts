import type { ChannelId, GroupId, UserId } from '@waxwing/protocol';
import { keepingRows } from '@waxwing/storage';
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Role } from '../permissions/roles.js';
import type { ServerTables, ServerTransaction } from '../tables.js';

/** What an invitation promises whoever joins by it. */
export interface InvitationTerms {
  readonly role: Role;
  /** Unix milliseconds; `undefined` for never. */
  readonly expiresAt: number | undefined;
  readonly includesDefaults: boolean;
  /** `undefined` for the organisation's, empty for none. */
  readonly welcomeText: string | undefined;
  readonly channelIds: readonly ChannelId[];
  readonly groupIds: readonly GroupId[];
}

export interface Invitation extends Omit<InvitationTerms, 'channelIds' | 'groupIds'> {
  readonly id: number;
  readonly inviterId: UserId;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

type Db = Kysely<ServerTables>;

/** The new invitation's id. */
export async function insertInvitation(
  db: Transaction<ServerTables>,
  { inviterId, tokenHash, now }: { inviterId: UserId; tokenHash: string; now: number },
  terms: InvitationTerms,
): Promise<number> {
  const { id } = await db
    .insertInto('invitations')
    .values({
      token_hash: tokenHash,
      inviter_id: inviterId,
      role: terms.role,
      created_at: now,
      expires_at: terms.expiresAt ?? null,
      includes_defaults: terms.includesDefaults ? 1 : 0,
      welcome_text: terms.welcomeText ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { channelIds, groupIds } = terms;
  if (channelIds.length > 0) {
    const rows = channelIds.map((channel_id) => ({ invitation_id: id, channel_id }));
    await db.insertInto('invitation_channels').values(rows).execute();
  }
  if (groupIds.length > 0) {
    const rows = groupIds.map((group_id) => ({ invitation_id: id, group_id }));
    await db.insertInto('invitation_groups').values(rows).execute();
  }
  return id;
}

/** The invitations that are good at that instant, the oldest first: of one inviter, or of all. */
export async function listInvitations(
  db: Db,
  now: number,
  inviterId: UserId | undefined,
): Promise<Invitation[]> {
  const rows = await goodInvitations(db, now)
    .$if(inviterId !== undefined, (query) => query.where('inviter_id', '=', inviterId as UserId))
    .orderBy('invitations.id')
    .execute();
  return rows.map(toInvitation);
}

/** The invitation with this token, if it is good at that instant: neither expired nor revoked, its inviter a user still. */
export async function findInvitation(
  db: Db,
  tokenHash: string,
  now: number,
): Promise<Invitation | undefined> {
  const row = await goodInvitations(db, now).where('token_hash', '=', tokenHash).executeTakeFirst();
  return row && toInvitation(row);
}

/**
 * As {@link findInvitation}, with all its terms; it is not revoked, nor its inviter deactivated, until the transaction
 * ends.
 */
export async function holdInvitation(
  { db }: ServerTransaction,
  tokenHash: string,
  now: number,
): Promise<(Invitation & InvitationTerms) | undefined> {
  const row = await goodInvitations(db, now)
    .where('token_hash', '=', tokenHash)
    .modifyEnd(keepingRows(db))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const channels = await db
    .selectFrom('invitation_channels')
    .select('channel_id as id')
    .where('invitation_id', '=', row.id)
    .execute();
  const groups = await db
    .selectFrom('invitation_groups')
    .select('group_id as id')
    .where('invitation_id', '=', row.id)
    .execute();
  return {
    ...toInvitation(row),
    channelIds: channels.map(({ id }) => id),
    groupIds: groups.map(({ id }) => id),
  };
}

/** Revokes all invitations of an inviter; whether there were any. */
export async function deleteInvitationsOf(
  db: Transaction<ServerTables>,
  inviterId: UserId,
): Promise<boolean> {
  const deleted = db.deleteFrom('invitations').where('inviter_id', '=', inviterId).returning('id');
  return (await deleted.execute()).length > 0;
}

function goodInvitations(db: Db, now: number) {
  return db
    .selectFrom('invitations')
    .innerJoin('users', 'users.id', 'invitations.inviter_id')
    .where('users.is_active', '=', 1)
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', now)]))
    .selectAll('invitations');
}

function toInvitation(row: Selectable<ServerTables['invitations']>): Invitation {
  return {
    id: row.id,
    inviterId: row.inviter_id,
    role: row.role as Role,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    includesDefaults: row.includes_defaults === 1,
    welcomeText: row.welcome_text ?? undefined,
  };
}
