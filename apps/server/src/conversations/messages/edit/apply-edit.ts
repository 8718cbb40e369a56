import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import type { DetachedUpload } from '../../../content/uploads/detached-upload.js';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { EventsToPublish } from '../../../platform/event-queues/published-event.js';
import type { ServerTransaction } from '../../../tables.js';
import type { Channel } from '../../channels/channel-store.js';
import { trimHistory } from '../history/trim-history.js';
import { copiesOfMessage, holdersOf } from '../message-readers.js';
import type { Message } from '../message-store.js';
import { notifyOfNewMentions } from '../push/notify-of-messages.js';
import { lossesAmong } from '../removal/losses.js';
import { removalEvents } from '../removal/removal-events.js';
import { applyContent, applyMentions } from './apply-content.js';
import { applyMove } from './apply-move.js';
import {
  type EditedChannels,
  type LosingAccess,
  losingAccess,
  mayFollow,
  updateAudience,
} from './edit-audience.js';
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
 * Applies an edit: updates rows, history, copies and files, and publishes the events. Returns the uploads that are no
 * longer referenced by any message.
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
  const mentions = content === undefined ? [] : await applyMentions(transaction, message, content.content);
  // Reads the copies before the move, because a move to another channel deletes some copies.
  const isReadNow = channels === undefined || channels.origin.id !== channels.target.id;
  const copies = isReadNow ? await copiesOfMessage(db, message.id) : undefined;
  const losingAccess = await publishLostAccess(transaction, context, edit, ids);
  const decided = plan.move && channels && { ...edit, move: plan.move, channels, ids, losingAccess };
  const moved = decided && (await applyMove(transaction, context, decided));
  const notified: PublishedEdit = {
    ...plan,
    before: message,
    channelName: channels?.origin.name,
    editorId: actor.id,
    now,
    messageIds: ids,
  };
  const found = { messageId: message.id, copies, losingAccess };
  await context.publish(transaction, updatesOf(db, notified, { channels, ...found }));
  if (plan.content !== undefined) {
    const edited = {
      message: { ...message, topic: plan.move?.to.topic ?? message.topic },
      rendered: plan.content.references,
      copies: mentions.map(({ userId, after }) => ({ userId, flags: after })),
    };
    const flagsBefore = new Map(mentions.map(({ userId, before }) => [userId, before]));
    await notifyOfNewMentions(transaction, context, edited, flagsBefore);
  }
  if (moved !== undefined) await postMoveNotices(transaction, context, moved);
  return detached;
}

/**
 * Publishes `delete_message` to users who lose access to the messages. Returns a function that selects these users from
 * a list. If the old channel's history is protected, only users with a copy lose access; their copies are deleted next.
 */
async function publishLostAccess(
  transaction: ServerTransaction,
  { publish }: EditContext,
  { channels, message: { channelId, topic } }: DecidedEdit,
  ids: readonly MessageId[],
): Promise<LosingAccess> {
  const { db } = transaction;
  if (channels === undefined || channels.origin.id === channels.target.id) return async () => [];
  if (channels.origin.isHistoryPublic) {
    await publish(transaction, {
      types: ['delete_message'],
      build: async (owners) =>
        removalEvents({ ids, channelId, topic }, await losingAccess(db, channels, owners)),
    });
    return (among) => losingAccess(db, channels, among);
  }
  const users = new Set<UserId>();
  const losers = await losingAccess(db, channels, await holdersOf(db, ids));
  for await (const losses of lossesAmong(db, losers, ids)) {
    const events = losses.flatMap((loss) =>
      removalEvents({ ids: loss.ids, channelId, topic }, loss.audience),
    );
    await publish(transaction, events);
    for (const userId of losses.flatMap(({ audience }) => audience)) users.add(userId);
  }
  return async (among) => among.map(({ id }) => id).filter((id) => users.has(id));
}

interface FoundReaders {
  readonly messageId: MessageId;
  readonly channels: EditedChannels | undefined;
  readonly copies: ReadonlyMap<UserId, number> | undefined;
  readonly losingAccess: LosingAccess;
}

function updatesOf(
  db: ServerTransaction['db'],
  notified: PublishedEdit,
  { channels, ...found }: FoundReaders,
): EventsToPublish {
  if (channels === undefined) return updateEvents(notified, found.copies ?? new Map());
  return {
    types: ['update_message'],
    // If the message moved to another channel, copies have already been deleted at this point.
    candidates: found.copies === undefined ? mayFollow(found.messageId, channels.origin) : undefined,
    build: async (owners) => updateEvents(notified, await updateAudience(db, { channels, ...found }, owners)),
  };
}

/** Selects the origin and target of an edit from the locked channels. Returns `undefined` for direct messages. */
export function editedChannels(
  channels: readonly Channel[],
  { channelId }: Message,
  { move }: EditPlan,
): EditedChannels | undefined {
  const named = (id: ChannelId | undefined) => channels.find((channel) => channel.id === id);
  const [origin, target] = [named(channelId), named(move?.to.channelId ?? channelId)];
  return origin && target && { origin, target };
}
