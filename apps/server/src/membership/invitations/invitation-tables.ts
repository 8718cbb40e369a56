import type { ChannelId, GroupId, UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

/** Invitation tables. Times are Unix milliseconds, booleans are 0 or 1. */
export interface InvitationTables {
  /** Links that let anyone join. Revoking a link deletes its row. */
  invitations: {
    id: Generated<number>;
    /** Digest of the link's token. */
    token_hash: string;
    inviter_id: UserId;
    /** Role of users who join. */
    role: number;
    created_at: number;
    /** Null if the invitation never expires. */
    expires_at: number | null;
    /** Whether users who join are subscribed to the default channels. */
    includes_defaults: number;
    /** Null means the organization's default text, and an empty string means no message. */
    welcome_text: string | null;
  };
  invitation_channels: {
    invitation_id: number;
    channel_id: ChannelId;
  };
  invitation_groups: {
    invitation_id: number;
    group_id: GroupId;
  };
}

const { integer, text } = columnTypes;

export async function createInvitations(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('invitations'))
    .addColumn('token_hash', text, (column) => column.notNull().unique())
    .addColumn('inviter_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('role', integer, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('expires_at', integer)
    .addColumn('includes_defaults', integer, (column) => column.notNull())
    .addColumn('welcome_text', text)
    .execute();
  for (const [table, column, target] of [
    ['invitation_channels', 'channel_id', 'channels.id'],
    ['invitation_groups', 'group_id', 'user_groups.id'],
  ] as const) {
    await db.schema
      .createTable(table)
      .addColumn('invitation_id', integer, (id) =>
        id.notNull().references('invitations.id').onDelete('cascade'),
      )
      .addColumn(column, integer, (id) => id.notNull().references(target))
      .addPrimaryKeyConstraint(`${table}_pair`, ['invitation_id', column])
      .execute();
  }
}
