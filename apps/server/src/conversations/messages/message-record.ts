import type { UserId } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import { shownAddress } from '../../people/users/address-visibility.js';
import { writeAvatar } from '../../people/users/user-record.js';
import { editEntry, writeEdits } from './edit-entries.js';
import { flagNames } from './message-flags.js';
import { type MessageForm, writeTopic } from './message-form.js';
import { meBeginning, type ShownMessage } from './message-store.js';
import type { RelatedRecords } from './related-records.js';

const participant = z.object({
  id: z.number().int(),
  email: z.string(),
  full_name: z.string(),
  is_mirror_dummy: z.boolean(),
});

/** A message in the wire format, without the reader's own flags. Times are Unix seconds. */
export const messageRecord = z.object({
  id: z.number().int(),
  sender_id: z.number().int(),
  sender_email: z.string(),
  sender_full_name: z.string(),
  sender_realm_str: z.string(),
  /** `null` if the client computes the URL from the email address. */
  avatar_url: z.string().nullable(),
  timestamp: z.number().int(),
  client: z.string(),
  type: z.enum(['stream', 'private']),
  /** Only for messages in channels. */
  stream_id: z.number().int().optional(),
  /** The same for all messages of one channel or conversation. */
  recipient_id: z.number().int(),
  /** The channel's name, or all participants of the conversation. */
  display_recipient: z.union([z.string(), z.array(participant)]),
  /** The topic. */
  subject: z.string(),
  content: z.string(),
  content_type: z.enum(['text/html', 'text/x-markdown']),
  is_me_message: z.boolean(),
  reactions: z.array(z.never()),
  submessages: z.array(z.never()),
  topic_links: z.array(z.never()),
  last_edit_timestamp: z.number().int().optional(),
  last_moved_timestamp: z.number().int().optional(),
  /** Newest first. Absent if there are no edits. */
  edit_history: z.array(editEntry).optional(),
});

/** A message with the reader's own flags. */
export const readMessageRecord = messageRecord
  .extend({
    flags: z.array(z.string()),
    match_content: z.string().optional(),
    match_subject: z.string().optional(),
  })
  .meta({ schemaName: 'Message' });

/** Builds the record of a message in the client's form. `related` must have been read for this message. */
export function writeMessage(
  message: ShownMessage,
  related: RelatedRecords,
  form: MessageForm,
): z.input<typeof messageRecord> {
  const { realm } = related;
  const sender = related.user(message.senderId);
  const edits = writeEdits(related.editsOf(message.id), related.historyPolicy, form);
  const { channelId } = message;
  const isInChannel = channelId !== undefined;
  // Optional fields are set below: spreading them into the literal is many times slower.
  const record: z.input<typeof messageRecord> = {
    id: message.id,
    sender_id: sender.id,
    sender_email: shownAddress(sender, realm),
    sender_full_name: sender.fullName,
    sender_realm_str: '',
    avatar_url: writeAvatar(sender, { realm, clientMakesAvatars: form.makesAvatars }),
    timestamp: unixSeconds(message.sentAt),
    client: message.client,
    type: isInChannel ? 'stream' : 'private',
    recipient_id: isInChannel ? 2 * channelId : 2 * (message.conversationId as number) + 1,
    display_recipient: isInChannel
      ? related.channelName(channelId)
      : writeParticipants(message.conversationId as number, related),
    subject: isInChannel ? writeTopic(message.topic, form) : '',
    content: form.appliesMarkdown ? message.renderedContent : message.content,
    content_type: form.appliesMarkdown ? 'text/html' : 'text/x-markdown',
    is_me_message: message.content.startsWith(meBeginning),
    reactions: [],
    submessages: [],
    topic_links: [],
  };
  if (isInChannel) record.stream_id = channelId;
  if (message.lastEditedAt !== undefined) record.last_edit_timestamp = unixSeconds(message.lastEditedAt);
  if (message.lastMovedAt !== undefined) record.last_moved_timestamp = unixSeconds(message.lastMovedAt);
  if (edits.length > 0) record.edit_history = edits;
  return record;
}

/**
 * Builds the record of a message with the flags of the reader's copy. `flags` is `undefined` for a reader without a
 * copy.
 */
export function writeReadMessage(
  message: ShownMessage,
  flags: number | undefined,
  related: RelatedRecords,
  form: MessageForm,
): z.input<typeof readMessageRecord> {
  return Object.assign(writeMessage(message, related, form), { flags: writeFlags(flags) });
}

/** Returns the names of a copy's flags. Without a copy (`undefined`), returns `read` and `historical`. */
export function writeFlags(flags: number | undefined): string[] {
  return flags === undefined ? ['read', 'historical'] : flagNames(flags);
}

function writeParticipants(conversationId: number, related: RelatedRecords) {
  return related.participantsOf(conversationId).map((id: UserId): z.input<typeof participant> => {
    const user = related.user(id);
    return {
      id,
      email: shownAddress(user, related.realm),
      full_name: user.fullName,
      is_mirror_dummy: false,
    };
  });
}
