import { ProtocolError, refused } from '@waxwing/protocol';
import { realmLimits } from '../../../people/realm/realm-limits.js';
import type { ChannelAccess } from '../../channels/channel-access.js';
import { administersChannel, maySendTo, readsChannel } from '../../channels/channel-rules.js';
import { checkContent } from './content-rules.js';
import type { EditedMessage, EditFacts } from './edit-facts.js';
import { isBoundByTime, isWithin, movableAfter } from './edit-limits.js';
import { mayNotEdit } from './edit-refusals.js';
import { isMove, isResolutionAlone, type PropagateMode, type WantedMove } from './edit-request.js';

/**
 * A message in a channel and its requested move. `origin` and `target` are equal if the message stays in its channel.
 */
interface ChannelEdit {
  readonly message: EditedMessage;
  readonly move: WantedMove;
  readonly origin: ChannelAccess;
  readonly target: ChannelAccess;
  readonly propagateMode: PropagateMode;
}

/**
 * Runs checks 13 to 15 in docs/chat-api.md#order-of-the-checks-of-an-edit: whether the actor can read the target
 * channel, and whether that channel accepts the topic. Returns the actor's access to the target channel.
 */
export function checkTarget(facts: EditFacts, origin: ChannelAccess, move: WantedMove): ChannelAccess {
  const target = move.channelId === undefined ? origin : facts.target;
  if (target === undefined || target.channel.isArchived || !readsChannel(target))
    throw refused('Invalid channel ID');
  const { topicsPolicy } = target.channel;
  const policy = topicsPolicy === 'inherit' ? facts.settings.topics_policy : topicsPolicy;
  const { realm_empty_topic_display_name: displayName } = realmLimits;
  const fields = { empty_topic_display_name: displayName };
  const isNameless = move.topic === '' || move.topic === '(no topic)';
  if (policy === 'disable_empty_topic' && isNameless && isMove(move))
    throw refused(`Sending messages to "${displayName}" is not allowed in this channel.`, fields);
  if (policy === 'empty_topic_only' && move.topic !== '')
    throw refused(`Only messages in "${displayName}" are allowed in this channel.`, fields);
  return target;
}

/**
 * Runs checks 16 to 22 in docs/chat-api.md#order-of-the-checks-of-an-edit: whether the actor may apply the move to the
 * edited message.
 */
export function checkMove(facts: EditFacts, edit: ChannelEdit): void {
  if (edit.move.resolution !== undefined) checkResolution(facts, edit);
  else if (edit.move.isTopicChanged) checkTopicChange(facts, edit);
  checkContent(facts);
  if (edit.move.channelId !== undefined) checkChannelChange(facts, edit);
}

function checkResolution({ held }: EditFacts, { origin, target }: ChannelEdit): void {
  const allowed = [held, origin.held, target.held].some((each: ReadonlySet<string>) =>
    each.has('can_resolve_topics_group'),
  );
  if (!allowed) throw refused("You don't have permission to resolve topics in this channel.");
}

function checkTopicChange(facts: EditFacts, edit: ChannelEdit): void {
  const { actor, held, now, settings } = facts;
  const { message, origin, target } = edit;
  const allowed =
    held.has('can_move_messages_between_topics_group') ||
    [origin, target].some(
      (access) => access.held.has('can_move_messages_within_channel_group') || administersChannel(access),
    );
  if (!allowed) throw mayNotEdit();
  const limit = settings.move_messages_within_stream_limit_seconds;
  if (isBoundByTime(actor.role) && !isWithin(limit, now - message.sentAt) && !isPartMovable(facts, edit))
    throw refused("The time limit for editing this message's topic has passed.");
}

function checkChannelChange(facts: EditFacts, edit: ChannelEdit): void {
  const { actor, held, now, settings } = facts;
  const { message, origin, target } = edit;
  const allowed =
    held.has('can_move_messages_between_channels_group') ||
    origin.held.has('can_move_messages_out_of_channel_group') ||
    administersChannel(origin);
  if (!allowed) throw refused("You don't have permission to move this message");
  if (!maySendTo(target)) throw refused('Not authorized to send to the channel');
  const limit = settings.move_messages_between_streams_limit_seconds;
  if (isBoundByTime(actor.role) && !isWithin(limit, now - message.sentAt) && !isPartMovable(facts, edit))
    throw refused("The time limit for editing this message's channel has passed");
}

/**
 * Returns whether the request moves the whole topic but only a part of it is recent enough. {@link checkWholeTopic}
 * then reports that part, even if the edited message itself is too old.
 */
function isPartMovable({ counted }: EditFacts, { propagateMode }: ChannelEdit): boolean {
  if (propagateMode !== 'change_all' || counted === undefined) return false;
  return counted.movable > 0 && counted.movable < counted.total;
}

/**
 * Runs checks 23 and 24 in docs/chat-api.md#order-of-the-checks-of-an-edit: whether the whole topic may move, and
 * whether the actor may create a new topic.
 */
export function checkWholeTopic(facts: EditFacts, { move, target, propagateMode }: ChannelEdit): void {
  const { actor, counted, isTopicNew, now, settings } = facts;
  if (!isMove(move) || isResolutionAlone(move)) return;
  const isLimited = movableAfter(settings, move, now) !== undefined && isBoundByTime(actor.role);
  if (
    propagateMode === 'change_all' &&
    isLimited &&
    counted !== undefined &&
    counted.movable < counted.total
  ) {
    throw new ProtocolError('MOVE_MESSAGES_TIME_LIMIT_EXCEEDED', {
      fields: {
        first_message_id_allowed_to_move: counted.firstMovableId,
        total_messages_in_topic: counted.total,
        total_messages_allowed_to_move: counted.movable,
      },
    });
  }
  if (isTopicNew && !target.held.has('can_create_topic_group'))
    throw refused("You don't have permission to create new topics in this channel.");
}
