import type { MessageId, UserId } from '@waxwing/protocol';
import { isAmong, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import {
  claimUploads,
  dropReferences,
  lockReferredUploads,
  planDetached,
} from '../../../content/uploads/attachment-references.js';
import { type DetachedUpload, writeDetached } from '../../../content/uploads/detached-upload.js';
import type { ServerContext } from '../../../context.js';
import { membersOfGroups } from '../../../people/permissions/nested-membership.js';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables, ServerTransaction } from '../../../tables.js';
import { isImage } from '../insert-messages.js';
import { isReadable } from '../message-access.js';
import { mentionBits } from '../message-flags.js';
import { hasMentionFlags } from '../message-tables.js';
import { mentionFlags, topicId } from '../recipients.js';
import type { ContentFacts, EditedMessage } from './edit-facts.js';

type Content = Pick<ContentFacts, 'source' | 'html' | 'participants' | 'references'>;

/**
 * Replaces a message's content and its upload references. Returns the uploads that are no longer referenced by any
 * message.
 */
export async function applyContent(
  transaction: ServerTransaction,
  context: Pick<ServerContext, 'publish'>,
  { message, content, actor, now }: ContentEdit,
): Promise<DetachedUpload[]> {
  const { hasLink, uploads } = content.references;
  await transaction.db
    .updateTable('messages')
    .set({
      content: content.source,
      rendered_content: content.html,
      last_edited_at: now,
      has_link: hasLink ? 1 : 0,
      has_image: uploads.some(isImage) ? 1 : 0,
    })
    .where('id', '=', message.id)
    .execute();
  const referred = await lockReferredUploads(transaction, message.id);
  const { claimed, detached, droppedIds } = planDetached(referred, uploads, actor.id);
  await dropReferences(transaction, message.id, droppedIds, now);
  const claimant = { userId: actor.id, isReadable: isReadable(actor) };
  await claimUploads(transaction, context, claimant, [{ messageId: message.id, pathIds: claimed }]);
  return detached.map(writeDetached);
}

interface ContentEdit {
  readonly message: EditedMessage;
  readonly content: Content;
  readonly actor: PermissionHolder;
  readonly now: number;
}

/**
 * A change of the mention flags in a user's copy of an edited message. `before` and `after` contain all flags of the
 * copy.
 */
export interface MentionChange {
  readonly userId: UserId;
  readonly before: number;
  readonly after: number;
}

/**
 * Updates the mention flags in users' copies of the message, in at most three statements. Returns the changed copies.
 */
export async function applyMentions(
  { db }: ServerTransaction,
  message: EditedMessage,
  { participants, references: { mentions } }: Content,
): Promise<MentionChange[]> {
  const groupMembers = await membersOfGroups(db, mentions.groupIds);
  const flagsOf = mentionFlags(message, mentions, {
    groupMembers,
    topicSenders: new Map([[topicId(message), participants]]),
  });
  const named = [
    ...mentions.userIds,
    ...[...groupMembers.values()].flat(),
    ...(mentions.topicWildcard ? participants : []),
  ];
  const changes = (await mentionedCopies(db, message.id, mentions.channelWildcard ? undefined : named))
    .map(({ user_id: userId, flags: before }): MentionChange => {
      return { userId, before, after: (before & ~mentionBits) | flagsOf(userId) };
    })
    .filter(({ before, after }) => before !== after);
  if (changes.length === 0) return [];
  // Writes only the mention bits: a user may change the other bits concurrently.
  const rows = changes.map(({ userId, after }) => ({ user_id: userId, flags: after & mentionBits }));
  await sql`
    update user_messages set flags = (user_messages.flags & ${sql.lit(~mentionBits)}) | v.flags
    from ${rowsAsTable(db, 'v', { user_id: 'integer', flags: 'integer' }, rows)}
    where user_messages.message_id = ${message.id} and user_messages.user_id = v.user_id`.execute(db);
  return changes;
}

/**
 * Returns the copies whose mention flags may change, ordered by user id: copies that have mention flags, and the
 * copies of the `named` users. Returns all copies if `named` is omitted.
 */
function mentionedCopies(
  db: Kysely<ServerTables>,
  messageId: MessageId,
  named: readonly UserId[] | undefined,
) {
  const copies = db
    .selectFrom('user_messages')
    .select(['user_id', 'flags'])
    .where('message_id', '=', messageId);
  if (named === undefined) return copies.orderBy('user_id').execute();
  // Uses a union: for `or`, both databases would read all copies of the message.
  return copies
    .where(hasMentionFlags)
    .union(copies.where(isAmong(db, 'user_id', 'integer', named)))
    .orderBy('user_id')
    .execute();
}
