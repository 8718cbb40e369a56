import { contentHtmlDiff } from '@waxwing/markdown';
import type { UserId } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import type { RealmSettingValues } from '../../realm/realm-settings.js';
import { writeTopic } from '../message-form.js';

/** The state of a message after one edit. */
export const messageSnapshot = z.object({
  topic: z.string(),
  content: z.string(),
  rendered_content: z.string(),
  user_id: z.number().int(),
  timestamp: z.number().int(),
  prev_topic: z.string().optional(),
  prev_stream: z.number().int().optional(),
  stream: z.number().int().optional(),
  prev_content: z.string().optional(),
  prev_rendered_content: z.string().optional(),
  content_html_diff: z.string().optional(),
});

/** A message's current or former state. Times in this file are Unix milliseconds. */
interface MessageState {
  readonly topic: string;
  readonly content: string;
  readonly renderedContent: string;
}

export interface StoredMessage extends MessageState {
  readonly senderId: UserId;
  readonly sentAt: number;
  readonly isDirect: boolean;
}

/** One edit. Fields of `before` that it did not change are `undefined`. */
export interface StoredEdit {
  readonly editorId: UserId;
  readonly editedAt: number;
  readonly before: Partial<MessageState>;
  readonly channel: { readonly from: number; readonly to: number } | undefined;
}

export interface SnapshotForm {
  readonly policy: RealmSettingValues['message_edit_history_visibility_policy'];
  /** The client supports topics without a name. */
  readonly knowsEmptyTopic: boolean;
}

/**
 * The snapshots of a message, oldest first: the original, then the state after each edit. With the policy `moves`, only
 * moves appear, each with its text at that time. The first snapshot then has the text of the first move, or the current
 * text if there is none, so that earlier text stays hidden. Lazy, because diffing two texts is slow.
 */
export function* messageSnapshots(
  message: StoredMessage,
  edits: readonly StoredEdit[],
  { policy, knowsEmptyTopic }: SnapshotForm,
): Generator<z.input<typeof messageSnapshot>> {
  const topicOf = (topic: string) => (message.isDirect ? topic : writeTopic(topic, { knowsEmptyTopic }));
  const shown = (state: MessageState) => ({
    topic: topicOf(state.topic),
    content: state.content,
    rendered_content: state.renderedContent,
  });
  const states = statesOf(message, edits);
  const [first = message] = states;
  const sent = policy === 'moves' ? { ...atFirstMove(message, edits, states), topic: first.topic } : first;
  yield { ...shown(sent), user_id: message.senderId, timestamp: unixSeconds(message.sentAt) };
  for (const [index, edit] of edits.entries()) {
    const { before, channel, editedAt, editorId } = edit;
    const state = states[index + 1] ?? message;
    if (policy === 'moves' && !isMove(edit)) continue;
    yield {
      ...shown(state),
      user_id: editorId,
      timestamp: unixSeconds(editedAt),
      ...(before.topic === undefined ? {} : { prev_topic: topicOf(before.topic) }),
      ...(channel === undefined ? {} : { prev_stream: channel.from, stream: channel.to }),
      ...(policy === 'moves' ? {} : contentChange(before, state)),
    };
  }
}

/** The state after the first move, or the current state if the message was never moved. */
function atFirstMove(
  message: MessageState,
  edits: readonly StoredEdit[],
  states: readonly MessageState[],
): MessageState {
  const index = edits.findIndex(isMove);
  return index === -1 ? message : (states[index + 1] ?? message);
}

function isMove({ before, channel }: StoredEdit): boolean {
  return before.topic !== undefined || channel !== undefined;
}

/** The states before the first edit, after it, and so on up to the current one. */
function statesOf(message: MessageState, edits: readonly StoredEdit[]): MessageState[] {
  const { topic, content, renderedContent } = message;
  const states: MessageState[] = [{ topic, content, renderedContent }];
  for (const { before } of edits.toReversed()) {
    const after = states.at(-1) as MessageState;
    states.push({
      topic: before.topic ?? after.topic,
      content: before.content ?? after.content,
      renderedContent: before.renderedContent ?? after.renderedContent,
    });
  }
  return states.reverse();
}

function contentChange({ content, renderedContent }: StoredEdit['before'], after: MessageState) {
  if (content === undefined || renderedContent === undefined) return {};
  return {
    prev_content: content,
    prev_rendered_content: renderedContent,
    content_html_diff: contentHtmlDiff(renderedContent, after.renderedContent),
  };
}
