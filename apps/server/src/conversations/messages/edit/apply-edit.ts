import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import type { DetachedUpload } from '../../../content/uploads/detached-upload.js';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTransaction } from '../../../tables.js';
import type { Channel } from '../../channels/channel-store.js';
import { trimHistory } from '../history/trim-history.js';
import { copiesOfMessage } from '../message-readers.js';
import type { Message } from '../message-store.js';
import { notifyOfNewMentions } from '../push/notify-of-messages.js';
import { removalEvents } from '../removal/removal-events.js';
import { applyContent, applyMentions } from './apply-content.js';
import { applyMove } from './apply-move.js';
import { type EditedChannels, findLosses, updateAudience } from './edit-audience.js';
import type { EditContext } from './edit-context.js';
import { type PublishedEdit, updateEvents } from './edit-events.js';
import { postMoveNotices } from './move-notices.js';
import type { EditPlan } from './plan-edit.js';
import { lockEdited, recordEdits } from './store-edit.js';

/** An edit that passed all checks, with the related records that {@link applyEdit} needs. */
export interface DecidedEdit {
  readonly plan: EditPlan;
  /** The message before the edit. */
  readonly message: Message;
  /** `undefined` for direct messages. */
  readonly channels: EditedChannels | undefined;
  readonly actor: PermissionHolder;
  readonly now: number;
  readonly isTopicNew: boolean;
}

/**
 * Applies an edit: updates rows, history, copies and files, and publishes the events. Uses a constant number of
 * statements for any number of messages. Returns the uploads that no message refers to any longer.
 */
export async function applyEdit(
  transaction: ServerTransaction,
  context: EditContext,
  edit: DecidedEdit,
): Promise<DetachedUpload[]> {
  const { plan, message, channels, actor, now } = edit;
  const { db } = transaction;
  const ids = await lockEdited(db, plan, actor);
  await recordEdits(db, plan, { ids, editorId: actor.id, now });
  if (plan.content !== undefined) await trimHistory(db, message.id);
  const content = plan.content && { message, content: plan.content, actor, now };
  const detached = content === undefined ? [] : await applyContent(transaction, context, content);
  const before = await copiesOfMessage(db, message.id);
  const copies =
    content === undefined ? before : await applyMentions(transaction, message, content.content, before);
  const usersLosingAccess = await publishLostAccess(transaction, context, edit, ids);
  const decided = plan.move && channels && { ...edit, move: plan.move, channels, ids, usersLosingAccess };
  const moved = decided && (await applyMove(transaction, context, decided));
  const notified: PublishedEdit = {
    ...plan,
    before: message,
    channelName: channels?.origin.name,
    editorId: actor.id,
    now,
    messageIds: ids,
  };
  await context.publish(
    transaction,
    updateEvents(notified, await audienceOf(transaction, channels, copies, usersLosingAccess)),
  );
  if (plan.content !== undefined) {
    const edited = {
      message: { ...message, topic: plan.move?.to.topic ?? message.topic },
      rendered: plan.content.references,
      copies: [...copies].map(([userId, flags]) => ({ userId, flags })),
    };
    await notifyOfNewMentions(transaction, context, edited, before);
  }
  if (moved !== undefined) await postMoveNotices(transaction, context, moved);
  return detached;
}

/** Publishes `delete_message` to users losing access to the messages. Returns their ids. */
async function publishLostAccess(
  transaction: ServerTransaction,
  { publish }: EditContext,
  { channels, message: { channelId, topic } }: DecidedEdit,
  ids: readonly MessageId[],
): Promise<ReadonlySet<UserId>> {
  const usersLosingAccess = new Set<UserId>();
  if (channels === undefined) return usersLosingAccess;
  for await (const losses of findLosses(transaction.db, channels, ids)) {
    const events = losses.flatMap((loss) =>
      removalEvents({ ids: loss.ids, channelId, topic }, loss.audience),
    );
    await publish(transaction, events);
    for (const userId of losses.flatMap(({ audience }) => audience)) usersLosingAccess.add(userId);
  }
  return usersLosingAccess;
}

async function audienceOf(
  { db }: ServerTransaction,
  channels: EditedChannels | undefined,
  copies: ReadonlyMap<UserId, number>,
  usersLosingAccess: ReadonlySet<UserId>,
): Promise<ReadonlyMap<UserId, number | undefined>> {
  if (channels === undefined) return copies;
  return updateAudience(db, channels, copies, usersLosingAccess);
}

/** The origin and target of an edit, picked from the locked channels. `undefined` for direct messages. */
export function editedChannels(
  channels: readonly Channel[],
  { channelId }: Message,
  { move }: EditPlan,
): EditedChannels | undefined {
  const named = (id: ChannelId | undefined) => channels.find((channel) => channel.id === id);
  const [origin, target] = [named(channelId), named(move?.to.channelId ?? channelId)];
  return origin && target && { origin, target };
}
