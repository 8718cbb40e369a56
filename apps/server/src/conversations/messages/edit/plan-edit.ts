import { createHash } from 'node:crypto';
import { type ChannelId, ProtocolError, refused } from '@waxwing/protocol';
import type { ChannelAccess } from '../../channels/channel-access.js';
import { topicKey } from '../message-store.js';
import { checkTopic } from '../topic-text.js';
import { checkContent, checkContentPermission } from './content-rules.js';
import type { EditedMessage, EditFacts } from './edit-facts.js';
import { type EditRequest, isMove, isResolutionAlone, type WantedMove, wantedMove } from './edit-request.js';
import { checkMove, checkTarget, checkWholeTopic } from './move-rules.js';

/** The changes that an edit makes to a message and, if it moves, to other messages of its topic. */
export interface EditPlan {
  readonly message: EditedMessage;
  /** `undefined` if the content does not change. */
  readonly content: NonNullable<EditFacts['content']> | undefined;
  /** `undefined` if nothing moves. */
  readonly move: PlannedMove | undefined;
}

/** A move of messages from one topic to another, in the same or another channel. */
export interface PlannedMove extends Pick<EditRequest, 'propagateMode' | 'notifiesOldThread'> {
  readonly from: { readonly channelId: ChannelId; readonly topic: string };
  readonly to: { readonly channelId: ChannelId; readonly topic: string };
  readonly isTopicChanged: boolean;
  readonly isChannelChanged: boolean;
  readonly resolution: WantedMove['resolution'];
  /** Whether only the letter case of the topic changes. The topic stays the same, so no move notices are posted. */
  readonly isRespelling: boolean;
  /**
   * Whether to post an arrival notice. False for a move that only resolves or reopens a topic, which posts its own
   * notice.
   */
  readonly notifiesNewThread: boolean;
  /** Whether to post a notice that the topic was resolved or reopened, if the whole topic moves. */
  readonly notifiesResolution: boolean;
  /** Whether to post an arrival notice if a resolve or reopen moves only a part of the topic. */
  readonly notifiesPartialResolution: boolean;
}

/** The facts needed by the checks that run before rendering. */
type AskedFacts = Pick<EditFacts, 'actor' | 'message' | 'now' | 'settings'> & {
  readonly origin: Pick<ChannelAccess, 'channel'> | undefined;
};

/**
 * Plans an edit. A pure function. Runs the checks in the order of docs/chat-api.md#order-of-the-checks-of-an-edit;
 * the first check that fails determines the error.
 * @throws ProtocolError BAD_REQUEST, EXPECTATION_MISMATCH, MOVE_MESSAGES_TIME_LIMIT_EXCEEDED,
 * STREAM_WILDCARD_MENTION_NOT_ALLOWED or TOPIC_WILDCARD_MENTION_NOT_ALLOWED if a check fails.
 */
export function planEdit(facts: EditFacts, requested: EditRequest): EditPlan {
  const { origin } = facts;
  const { message, move } = checkAsked(facts, requested);
  const { channelId } = message;
  if (origin === undefined || channelId === undefined) {
    checkContent(facts);
    return { message, content: facts.content, move: undefined };
  }
  const target = checkTarget(facts, origin, move);
  const edit = { message, move, origin, target, propagateMode: requested.propagateMode };
  checkMove(facts, edit);
  checkWholeTopic(facts, edit);
  return {
    message,
    content: facts.content,
    move: isMove(move) ? planMove(requested, move, { channelId, topic: message.topic }) : undefined,
  };
}

/**
 * Runs checks 1 to 12 in docs/chat-api.md#order-of-the-checks-of-an-edit. These checks are cheap, so they also run
 * before rendering. Returns the message and its requested move.
 * @throws ProtocolError BAD_REQUEST or EXPECTATION_MISMATCH if a check fails.
 */
export function checkAsked(
  facts: AskedFacts,
  requested: EditRequest,
): { readonly message: EditedMessage; readonly move: WantedMove } {
  const { message, origin } = facts;
  if (message === undefined || origin?.channel.isArchived) throw refused('Invalid message(s)');
  if (requested.content !== undefined) checkContentPermission(facts, message);
  const move = wantedMove(requested, message);
  checkRequest(requested, message, move);
  if (requested.prevContentSha256 !== undefined) checkExpected(requested.prevContentSha256, message.content);
  return { message, move };
}

/**
 * Runs checks 5 to 11 in docs/chat-api.md#order-of-the-checks-of-an-edit: whether the request is valid for this
 * message.
 */
function checkRequest(requested: EditRequest, message: EditedMessage, move: WantedMove): void {
  const isDirect = message.channelId === undefined;
  const wantsMove = isMove(move);
  if (requested.content === undefined && !wantsMove) throw refused('Nothing to change');
  if (isDirect && requested.channelId !== undefined)
    throw refused('Direct messages cannot be moved to channels.');
  if (isDirect && requested.topic !== undefined) throw refused('Direct messages cannot have topics.');
  if (requested.propagateMode !== 'change_one' && !wantsMove)
    throw refused('Invalid propagate_mode without topic edit');
  if (move.wantedTopic !== undefined) checkTopic(move.wantedTopic, ': leave it out.');
  if (requested.content !== undefined && requested.channelId !== undefined)
    throw refused('Cannot change message content while changing channel');
}

function checkExpected(sha256: string, content: string): void {
  if (createHash('sha256').update(content).digest('hex') === sha256) return;
  throw new ProtocolError('EXPECTATION_MISMATCH', {
    message: 'The message was changed meanwhile: read it again, and change it then.',
    fields: { field_name: 'prev_content_sha256' },
  });
}

function planMove(requested: EditRequest, move: WantedMove, from: PlannedMove['from']): PlannedMove {
  const isChannelChanged = move.channelId !== undefined;
  const isRespelling = !isChannelChanged && topicKey(move.topic) === topicKey(from.topic);
  const notifiesNewThread = requested.notifiesNewThread && !isRespelling;
  return {
    propagateMode: requested.propagateMode,
    from,
    to: { channelId: move.channelId ?? from.channelId, topic: move.topic },
    isTopicChanged: move.isTopicChanged,
    isChannelChanged,
    resolution: move.resolution,
    isRespelling,
    notifiesOldThread: requested.notifiesOldThread && !isRespelling,
    notifiesNewThread: notifiesNewThread && !isResolutionAlone(move),
    notifiesResolution: isResolutionAlone(move) && requested.content === undefined,
    notifiesPartialResolution: notifiesNewThread && isResolutionAlone(move),
  };
}
