import type { ChannelId } from '@waxwing/protocol';
import { cutTopic, type Resolution, readTopic, resolutionOf } from '../topic-text.js';

/** Which messages of a topic move: the one that is meant, it and those after it, or all. */
export const propagateModes = ['change_one', 'change_later', 'change_all'] as const;

export type PropagateMode = (typeof propagateModes)[number];

/** What somebody wants a message to be, as it was asked for. */
export interface EditWish {
  readonly content?: string | undefined;
  readonly topic?: string | undefined;
  readonly channelId?: ChannelId | undefined;
  readonly propagateMode: PropagateMode;
  readonly tellsOldThread: boolean;
  readonly tellsNewThread: boolean;
  /** Of the content that the requester has seen. */
  readonly prevContentSha256?: string | undefined;
}

/** Where a message is; without a channel for direct messages. */
export interface MessagePlace {
  readonly channelId: ChannelId | undefined;
  readonly topic: string;
}

/** Where messages are to go. */
export interface WantedMove {
  /** Not cut; where it is another one than before. */
  readonly wantedTopic: string | undefined;
  /** What the topic will be, the one of before where it stays. */
  readonly topic: string;
  readonly isTopicChanged: boolean;
  /** Another channel than before. */
  readonly channelId: ChannelId | undefined;
  readonly resolution: Resolution | undefined;
}

/** What a wish moves; what is so already is no move. */
export function wantedMove(wish: Pick<EditWish, 'topic' | 'channelId'>, place: MessagePlace): WantedMove {
  const wanted = wish.topic === undefined ? place.topic : readTopic(wish.topic);
  const topic = wanted === place.topic ? place.topic : cutTopic(wanted);
  const isTopicChanged = topic !== place.topic;
  return {
    wantedTopic: isTopicChanged ? wanted : undefined,
    topic,
    isTopicChanged,
    channelId: wish.channelId === place.channelId ? undefined : wish.channelId,
    resolution: isTopicChanged ? resolutionOf(place.topic, wanted) : undefined,
  };
}

/** Whether anything moves. */
export function isMove({ isTopicChanged, channelId }: WantedMove): boolean {
  return isTopicChanged || channelId !== undefined;
}

/** Whether a topic is resolved or opened again where it is, and nothing else is moved. */
export function isResolutionAlone({ resolution, channelId }: WantedMove): boolean {
  return resolution !== undefined && channelId === undefined;
}
