import type { ChannelId } from '@waxwing/protocol';
import { cutTopic, type Resolution, readTopic, resolutionOf } from '../topic-text.js';

/** Which messages of a topic move: only the edited message, this and later messages, or all. */
export const propagateModes = ['change_one', 'change_later', 'change_all'] as const;

export type PropagateMode = (typeof propagateModes)[number];

/** A requested edit, before any checks. */
export interface EditRequest {
  readonly content?: string | undefined;
  readonly topic?: string | undefined;
  readonly channelId?: ChannelId | undefined;
  readonly propagateMode: PropagateMode;
  readonly notifiesOldThread: boolean;
  readonly notifiesNewThread: boolean;
  /** SHA-256 of the content that the client has seen. */
  readonly prevContentSha256?: string | undefined;
}

/** A message's channel and topic. Direct messages have no channel. */
export interface MessageLocation {
  readonly channelId: ChannelId | undefined;
  readonly topic: string;
}

/** A requested move, compared with the message's current channel and topic. */
export interface WantedMove {
  /** The requested topic before truncation. `undefined` if the topic does not change. */
  readonly wantedTopic: string | undefined;
  /** The topic after the move: the current topic if it does not change. */
  readonly topic: string;
  readonly isTopicChanged: boolean;
  /** The new channel. `undefined` if the channel does not change. */
  readonly channelId: ChannelId | undefined;
  readonly resolution: Resolution | undefined;
}

/** Computes the move that a request asks for. A requested value that equals the current value is not a change. */
export function wantedMove(
  requested: Pick<EditRequest, 'topic' | 'channelId'>,
  location: MessageLocation,
): WantedMove {
  const wanted = requested.topic === undefined ? location.topic : readTopic(requested.topic);
  const topic = wanted === location.topic ? location.topic : cutTopic(wanted);
  const isTopicChanged = topic !== location.topic;
  return {
    wantedTopic: isTopicChanged ? wanted : undefined,
    topic,
    isTopicChanged,
    channelId: requested.channelId === location.channelId ? undefined : requested.channelId,
    resolution: isTopicChanged ? resolutionOf(location.topic, wanted) : undefined,
  };
}

/** Returns whether the topic or the channel changes. */
export function isMove({ isTopicChanged, channelId }: WantedMove): boolean {
  return isTopicChanged || channelId !== undefined;
}

/** Returns whether the move only resolves or reopens a topic and stays in the channel. */
export function isResolutionAlone({ resolution, channelId }: WantedMove): boolean {
  return resolution !== undefined && channelId === undefined;
}
