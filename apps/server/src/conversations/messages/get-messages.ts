import { type MessageId, refused } from '@waxwing/protocol';
import { booleanParameter, ListAnswer, operation, optionalJsonParameter } from '@waxwing/service/http';
import { amongNumbers } from '@waxwing/storage';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import { possibleMessageIdList } from '../../people/permissions/id-lists.js';
import { spectator } from '../../people/permissions/spectator.js';
import type { Reader } from '../../people/users/address-visibility.js';
import { userOrSpectator } from '../../people/users/user-or-spectator.js';
import { findUserById } from '../../people/users/user-store.js';
import { messageFlags } from './message-flags.js';
import type { MessageForm } from './message-form.js';
import { readMessageRecord, writeReadMessage } from './message-record.js';
import {
  type FoundMessage,
  type FoundWindow,
  findAmong,
  findWindow,
  findWindowIds,
} from './narrow/find-window.js';
import { type RelatedRecords, readRelatedRecordsFor } from './related-records.js';
import { highlightHtml, highlightPlain } from './search/highlight-words.js';
import { wordsOf } from './search/search-messages.js';
import { readNarrowOf, spectatorNow } from './spectator.js';
import { readWindow, windowParameters } from './window-parameters.js';

const maximumIds = 5000;

/** Parameters that select a {@link MessageForm}. */
const formParameters = {
  apply_markdown: booleanParameter.default(true),
  client_gravatar: booleanParameter.default(true),
  allow_empty_topic_name: booleanParameter.default(false),
};

/**
 * `GET /api/v1/messages` (docs/chat-api.md#common-conventions): returns the messages of a narrow that the user may
 * read, around an anchor or by ids, oldest first. Reads messages in batches of 200. Each batch is a snapshot that
 * reflects the user's access when it is read. If the organization has public access, unauthenticated clients may read
 * the narrow `channels:web-public`. Errors:
 *
 * - BAD_NARROW if the narrow is invalid for the reader
 * - UNAUTHORIZED if an unauthenticated client requests any other narrow
 * - BAD_REQUEST if parameters contradict each other or request more than 5000 messages
 */
export const getMessages = operation({
  method: 'GET',
  path: '/api/v1/messages',
  summary: 'Returns messages of a narrow, around an anchor or by their ids.',
  actor: userOrSpectator,
  parameters: z.object({
    ...windowParameters,
    message_ids: optionalJsonParameter(possibleMessageIdList.max(maximumIds)),
    ...formParameters,
  }),
  answer: z.object({
    messages: z.array(readMessageRecord),
    /** Absent if messages are requested by id. */
    anchor: z.number().optional(),
    found_anchor: z.boolean(),
    found_oldest: z.boolean(),
    found_newest: z.boolean(),
    history_limited: z.boolean(),
  }),
  codes: ['BAD_REQUEST', 'BAD_NARROW'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { database, realm } = context;
    const { db } = database;
    const { anchor, message_ids: ids, narrow: terms = [], num_before, num_after } = parameters;
    if (ids !== undefined && (anchor !== undefined || num_before > 0 || num_after > 0)) {
      throw refused('message_ids cannot be combined with anchor, num_before or num_after');
    }
    const window = ids === undefined ? readWindow(parameters) : undefined;
    const narrow = await readNarrowOf(db, realm, actor, terms);
    const asking = actor ?? spectator;
    const content = parameters.apply_markdown ? 'beginning' : 'whole';
    const hasCopies = actor !== undefined;
    const writing = { form: readForm(parameters, actor), words: wordsOf(narrow.search ?? ''), hasCopies };
    const writerOf = async (found: readonly FoundMessage[]) => {
      const messages = found.map(({ message }) => message);
      const related = await readRelatedRecordsFor(db, realm, actor, messages);
      return (each: FoundMessage) => writeFound(each, { ...writing, related });
    };
    const inPieces = async function* (found: readonly FoundMessage[]) {
      const write = await writerOf(found);
      for (const piece of piecesOfText(found)) yield piece.map(write);
    };
    const asked = window === undefined ? (ids ?? []).length : window.before + window.after;
    if (asked <= messagesPerPiece) {
      const { found, ...bounds } =
        window === undefined
          ? { found: await findAmong(db, asking, narrow, amongNumbers(db, ids ?? []), content) }
          : await findWindow(db, asking, narrow, window, content);
      const [, ...more] = piecesOfText(found);
      if (more.length > 0) return new ListAnswer('messages', inPieces(found), writeBounds(bounds));
      return { messages: found.map(await writerOf(found)), ...writeBounds(bounds) };
    }
    const { found: wanted, ...bounds } =
      window === undefined ? { found: ids ?? [] } : await findWindowIds(db, asking, narrow, window);
    const pieces = async function* () {
      for (const piece of piecesOf(wanted)) {
        const reader = actor === undefined ? await spectatorNow(context) : await findUserById(db, actor.id);
        if (reader === undefined) return;
        const asNow = { ...narrow, isAllReadable: false };
        yield* inPieces(await findAmong(db, reader, asNow, amongNumbers(db, piece), content));
      }
    };
    return new ListAnswer('messages', pieces(), writeBounds(bounds));
  },
});

/** Messages per statement. Small enough to avoid delaying other requests. */
const messagesPerPiece = 200;
/**
 * Size of a piece of the response, in UTF-16 code units. A longer message is a piece of its own. Access is checked when
 * the messages are read, not when they are sent, so a slow client gets the same messages as a fast client.
 */
const textPerPiece = 256 * 1024;

function* piecesOf(ids: readonly MessageId[]): Generator<MessageId[]> {
  const ascending = ascendingIds(ids);
  for (let from = 0; from < ascending.length; from += messagesPerPiece)
    yield ascending.slice(from, from + messagesPerPiece);
}

function* piecesOfText(found: readonly FoundMessage[]): Generator<FoundMessage[]> {
  let piece: FoundMessage[] = [];
  let length = 0;
  for (const each of found) {
    const { content, renderedContent } = each.message;
    length += content.length + renderedContent.length;
    if (length > textPerPiece && piece.length > 0) {
      yield piece;
      piece = [];
      length = content.length + renderedContent.length;
    }
    piece.push(each);
  }
  yield piece;
}

/**
 * Builds the anchor and the `found_*` fields. If messages are requested by id, there is no anchor and all fields are
 * `false`.
 */
function writeBounds(bounds: Partial<Omit<FoundWindow<unknown>, 'found'>>) {
  return {
    ...(bounds.anchor === undefined ? {} : { anchor: bounds.anchor }),
    found_anchor: bounds.foundAnchor ?? false,
    found_oldest: bounds.foundOldest ?? false,
    found_newest: bounds.foundNewest ?? false,
    history_limited: false,
  };
}

/** Reads {@link formParameters}. Unauthenticated clients always get avatar URLs. */
function readForm(
  parameters: {
    readonly apply_markdown: boolean;
    readonly client_gravatar: boolean;
    readonly allow_empty_topic_name: boolean;
  },
  actor: Reader,
): MessageForm {
  return {
    appliesMarkdown: parameters.apply_markdown,
    makesAvatars: parameters.client_gravatar && actor !== undefined,
    knowsEmptyTopic: parameters.allow_empty_topic_name,
  };
}

interface Writing {
  readonly related: RelatedRecords;
  readonly form: MessageForm;
  readonly words: readonly string[];
  /** Whether the reader has copies of messages. Without copies, all messages count as read. */
  readonly hasCopies: boolean;
}

function writeFound({ message, flags }: FoundMessage, { related, form, words, hasCopies }: Writing) {
  const record = writeReadMessage(message, hasCopies ? flags : messageFlags.read, related, form);
  if (words.length === 0) return record;
  return {
    ...record,
    match_content: highlightHtml(message.renderedContent, words),
    match_subject: highlightPlain(record.subject, words),
  };
}
