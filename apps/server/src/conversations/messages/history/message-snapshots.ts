import { replacementHtmlDiff } from '@waxwing/markdown';
import type { UserId } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import type { RealmSettingValues } from '../../../people/realm/realm-settings.js';
import { writeTopic } from '../message-form.js';

/** The state of a message after one edit, in the wire format. */
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

interface MessageText {
  readonly content: string;
  readonly renderedContent: string;
}

/** The current state of a message. Times in this file are Unix milliseconds. */
export interface StoredMessage extends MessageText {
  readonly senderId: UserId;
  readonly sentAt: number;
  readonly isDirect: boolean;
  readonly topic: string;
}

/** One edit without its texts. */
export interface StoredEdit {
  readonly id: number;
  readonly editorId: UserId;
  readonly editedAt: number;
  /** Size of the edit's {@link EditText}. `undefined` if the edit did not change the text. */
  readonly textBytes: number | undefined;
  /** `undefined` if the edit did not change the topic. */
  readonly previousTopic: string | undefined;
  readonly channel: { readonly from: number; readonly to: number } | undefined;
}

/** The text before an edit. */
export interface EditText extends MessageText {
  /** HTML diff from that text to the text after the edit. `null` if it was not computed. */
  readonly diff: string | null;
}

export interface SnapshotForm {
  readonly policy: RealmSettingValues['message_edit_history_visibility_policy'];
  /** Whether the client supports topics without a name. */
  readonly knowsEmptyTopic: boolean;
}

export interface MessageHistory {
  readonly message: StoredMessage;
  /** Oldest first. */
  readonly edits: readonly StoredEdit[];
  /** Reads the texts of some of the edits. */
  readTexts(ids: readonly number[]): Promise<ReadonlyMap<number, EditText>>;
}

type Snapshot = z.input<typeof messageSnapshot>;

/** Maximum size of the texts in one piece. A single snapshot may be larger. */
const pieceBytes = 256 * 1024;

/** A snapshot to write. */
interface Step {
  /** `undefined` for the original message. */
  readonly edit: StoredEdit | undefined;
  /** The topic after the edit. */
  readonly topic: string;
  /**
   * The next edit that changes the text. Its stored previous text is the text of this snapshot. `undefined` if this
   * snapshot has the current text.
   */
  readonly textFrom: StoredEdit | undefined;
}

/**
 * Yields the snapshots of a message, oldest first: the original, then the state after each edit. With the policy
 * `moves`, yields only moves, each with the text at that time. The first snapshot then has the text of the first
 * move, or the current text if there was no move, so that earlier text stays hidden. Reads the texts in pieces,
 * because their total size may be large.
 */
export async function* messageSnapshots(
  history: MessageHistory,
  form: SnapshotForm,
): AsyncGenerator<Snapshot[]> {
  const { message, readTexts } = history;
  // Kept between pieces, because the last text of one piece is the previous text of the first edit in the next piece.
  let texts: ReadonlyMap<number, EditText> = new Map();
  for (const piece of inPieces(stepsOf(history, form.policy), message)) {
    const edits = piece.flatMap(({ edit, textFrom }) => [edit, textFrom]).filter(changesText);
    const needed = [...new Set(edits.map(({ id }) => id))];
    const read = await readTexts(needed.filter((id) => !texts.has(id)));
    texts = new Map([...texts, ...read].filter(([id]) => needed.includes(id)));
    const current = texts;
    yield piece.map((step) => writeSnapshot(step, message, current, form));
  }
}

function stepsOf({ message, edits }: MessageHistory, policy: SnapshotForm['policy']): Step[] {
  const steps: Step[] = [];
  let { topic } = message;
  let textFrom: StoredEdit | undefined;
  /** With the policy `moves`, the edit that contains the text of the first snapshot. */
  let firstText: StoredEdit | undefined;
  for (const edit of edits.toReversed()) {
    const isShown = policy !== 'moves' || isMove(edit);
    if (isShown) steps.push({ edit, topic, textFrom });
    if (isShown && policy === 'moves') firstText = textFrom;
    topic = edit.previousTopic ?? topic;
    if (changesText(edit)) textFrom = edit;
  }
  steps.push({ edit: undefined, topic, textFrom: policy === 'moves' ? firstText : textFrom });
  return steps.reverse();
}

function* inPieces(steps: readonly Step[], message: StoredMessage): Generator<Step[]> {
  const currentBytes = message.content.length + message.renderedContent.length;
  let piece: Step[] = [];
  let bytes = 0;
  for (const step of steps) {
    const stepBytes = (step.edit?.textBytes ?? 0) + (step.textFrom?.textBytes ?? currentBytes);
    if (bytes + stepBytes > pieceBytes && piece.length > 0) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(step);
    bytes += stepBytes;
  }
  yield piece;
}

function writeSnapshot(
  { edit, topic, textFrom }: Step,
  message: StoredMessage,
  texts: ReadonlyMap<number, EditText>,
  { policy, knowsEmptyTopic }: SnapshotForm,
): Snapshot {
  const topicOf = (stored: string) => (message.isDirect ? stored : writeTopic(stored, { knowsEmptyTopic }));
  // Falls back to the current text if there is no later edit, or if it was trimmed after the edits were listed.
  const { content, renderedContent } = (textFrom && texts.get(textFrom.id)) ?? message;
  const before = edit && policy !== 'moves' ? texts.get(edit.id) : undefined;
  return {
    topic: topicOf(topic),
    content,
    rendered_content: renderedContent,
    user_id: edit?.editorId ?? message.senderId,
    timestamp: unixSeconds(edit?.editedAt ?? message.sentAt),
    ...(edit?.previousTopic === undefined ? {} : { prev_topic: topicOf(edit.previousTopic) }),
    ...(edit?.channel === undefined ? {} : { prev_stream: edit.channel.from, stream: edit.channel.to }),
    ...(before === undefined ? {} : writeChange(before, renderedContent)),
  };
}

function writeChange({ content, renderedContent, diff }: EditText, after: string) {
  return {
    prev_content: content,
    prev_rendered_content: renderedContent,
    content_html_diff: diff ?? replacementHtmlDiff(renderedContent, after),
  };
}

function changesText(edit: StoredEdit | undefined): edit is StoredEdit {
  return edit?.textBytes !== undefined;
}

function isMove({ previousTopic, channel }: StoredEdit): boolean {
  return previousTopic !== undefined || channel !== undefined;
}
