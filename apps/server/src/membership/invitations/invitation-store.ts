import type { ChannelId, GroupId, UserId } from '@waxwing/protocol';
import { keepingRows } from '@waxwing/storage';
import type { Kysely, Selectable, Transaction } from 'kysely';
import { holdsPermissions, type PermissionHolder } from '../../people/permissions/permission-store.js';
import { wholeRealm } from '../../people/permissions/permission-tables.js';
import type { Role } from '../../platform/authentication/roles.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';

/** The terms of an invitation: the role, channels and groups of users who join with it. */
export interface InvitationTerms {
  readonly role: Role;
  /** Unix milliseconds; `undefined` if the invitation never expires. */
  readonly expiresAt: number | undefined;
  readonly includesDefaults: boolean;
  /** `undefined` means the organization's default text, and an empty string means no message. */
  readonly welcomeText: string | undefined;
  readonly channelIds: readonly ChannelId[];
  readonly groupIds: readonly GroupId[];
}

export interface Invitation extends Omit<InvitationTerms, 'channelIds' | 'groupIds'> {
  readonly id: number;
  readonly inviter: PermissionHolder;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

type Db = Kysely<ServerTables>;

/** Inserts an invitation and returns its id. */
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

/**
 * Returns the invitations that are valid at `now`, oldest first. Returns the invitations of one inviter, or of all
 * users if `inviterId` is `undefined`.
 */
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

/**
 * Returns the invitation with this token if it is valid at `now`: it is neither expired nor revoked, and its inviter is
 * active.
 */
async function findInvitation(db: Db, tokenHash: string, now: number): Promise<Invitation | undefined> {
  const row = await goodInvitations(db, now).where('token_hash', '=', tokenHash).executeTakeFirst();
  return row && toInvitation(row);
}

/** Like {@link findInvitation}, but also returns `undefined` if the inviter has lost the permission to invite. */
export async function findUsableInvitation(
  db: Db,
  tokenHash: string,
  now: number,
): Promise<Invitation | undefined> {
  const found = await findInvitation(db, tokenHash, now);
  if (found === undefined) return undefined;
  const [mayInvite] = await holdsPermissions(db, found.inviter, [
    { level: 'realm', ownerId: wholeRealm, name: 'create_multiuse_invite_group' },
  ]);
  return mayInvite ? found : undefined;
}

/**
 * Like {@link findInvitation}, but returns all terms. Until the transaction ends, locks the invitation against
 * revocation and the inviter's role, key and password against changes.
 */
export async function lockInvitation(
  { db }: ServerTransaction,
  tokenHash: string,
  now: number,
): Promise<(Invitation & InvitationTerms) | undefined> {
  const found = await findInvitation(db, tokenHash, now);
  if (found === undefined) return undefined;
  const { id } = found;
  // Locks the inviter first: a transaction that revokes a user's invitations locks the user first, so the opposite
  // order would deadlock.
  const inviter = await db
    .selectFrom('users')
    .select(['id', 'role'])
    .where('id', '=', found.inviter.id)
    .where('is_active', '=', 1)
    .modifyEnd(keepingRows(db))
    .executeTakeFirst();
  const row = await db
    .selectFrom('invitations')
    .select('id')
    .where('id', '=', id)
    .modifyEnd(keepingRows(db))
    .executeTakeFirst();
  if (inviter === undefined || row === undefined) return undefined;
  const channels = await db
    .selectFrom('invitation_channels')
    .select('channel_id as id')
    .where('invitation_id', '=', id)
    .execute();
  const groups = await db
    .selectFrom('invitation_groups')
    .select('group_id as id')
    .where('invitation_id', '=', id)
    .execute();
  return {
    ...found,
    inviter: { id: inviter.id, role: inviter.role as Role },
    channelIds: channels.map((each) => each.id),
    groupIds: groups.map((each) => each.id),
  };
}

function goodInvitations(db: Db, now: number) {
  return db
    .selectFrom('invitations')
    .innerJoin('users', 'users.id', 'invitations.inviter_id')
    .where('users.is_active', '=', 1)
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', now)]))
    .selectAll('invitations')
    .select('users.role as inviter_role');
}

type InvitationRow = Selectable<ServerTables['invitations']> & { readonly inviter_role: number };

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    inviter: { id: row.inviter_id, role: row.inviter_role as Role },
    role: row.role as Role,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    includesDefaults: row.includes_defaults === 1,
    welcomeText: row.welcome_text ?? undefined,
  };
}
