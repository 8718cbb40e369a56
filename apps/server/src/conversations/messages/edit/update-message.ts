import type { MessageId } from '@waxwing/protocol';
import { booleanParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { type DetachedUpload, detachedUpload } from '../../../content/uploads/detached-upload.js';
import type { ServerContext } from '../../../context.js';
import { readRealmSettings } from '../../../people/realm/realm-setting-store.js';
import { user } from '../../../platform/authentication/authenticate.js';
import type { KnownUser } from '../../../platform/authentication/credential-store.js';
import type { ServerTransaction } from '../../../tables.js';
import { channelIdParameter } from '../../channels/channel-id-parameter.js';
import { findChannels } from '../../channels/channel-store.js';
import { inOneChannel, lockMessage } from '../lock-message.js';
import { findReadableMessages } from '../message-access.js';
import { messageIdParameter } from '../message-id-parameter.js';
import type { RenderingContext } from '../render-content.js';
import { applyEdit, editedChannels } from './apply-edit.js';
import type { EditContext } from './edit-context.js';
import { type EditRequest, propagateModes } from './edit-request.js';
import { checkAsked, planEdit } from './plan-edit.js';
import { type RenderedContent, renderNewContent } from './read-content-facts.js';
import { type AskedEdit, readEditFacts } from './read-edit-facts.js';

/**
 * `PATCH /api/v1/messages/{message_id}` (docs/chat-api.md#1-edit-a-message): changes a message's content, or moves
 * messages to another topic or channel: only this message, this and later messages, or the whole topic. Resolving a
 * topic is also a move. Atomic. Notifies all readers of the message. Errors:
 *
 * - BAD_REQUEST if organization or channel settings do not permit the change
 * - EXPECTATION_MISMATCH if the stored content is not the content that the client has seen
 * - MOVE_MESSAGES_TIME_LIMIT_EXCEEDED if a part of the topic is too old
 * - STREAM_WILDCARD_MENTION_NOT_ALLOWED or TOPIC_WILDCARD_MENTION_NOT_ALLOWED if the new content would mention too many
 *   users
 */
export const updateMessage = operation({
  method: 'PATCH',
  path: '/api/v1/messages/{message_id}',
  summary: 'Edits a message, or moves messages to another topic or channel.',
  actor: user,
  bodyLimitBytes: 512 * 1024,
  parameters: z.object({
    message_id: messageIdParameter,
    topic: z.string().optional(),
    propagate_mode: z
      .enum(propagateModes, `must be one of ${propagateModes.join(', ')}`)
      .default('change_one'),
    send_notification_to_old_thread: booleanParameter.default(false),
    send_notification_to_new_thread: booleanParameter.default(true),
    content: z.string().optional(),
    // Some clients send `null` for "no hash".
    prev_content_sha256: z
      .string()
      .refine((hash) => hash !== 'null')
      .optional(),
    stream_id: channelIdParameter.optional(),
  }),
  aliases: { subject: 'topic' },
  answer: z.object({ detached_uploads: z.array(detachedUpload) }),
  codes: [
    'BAD_REQUEST',
    'EXPECTATION_MISMATCH',
    'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
    'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
  ],
  async handle(context: ServerContext, request) {
    const { actor, parameters } = request;
    const requested: EditRequest = {
      content: parameters.content,
      topic: parameters.topic,
      channelId: parameters.stream_id,
      propagateMode: parameters.propagate_mode,
      notifiesOldThread: parameters.send_notification_to_old_thread,
      notifiesNewThread: parameters.send_notification_to_new_thread,
      prevContentSha256: parameters.prev_content_sha256,
    };
    // Renders before the transaction: rendering is the slowest step, and no locks should be held during it.
    const rendering = { ...context, nextTick: () => request.nextTick() };
    const rendered = await renderAllowed(rendering, actor, parameters.message_id, requested);
    const asked: AskedEdit = { requested, content: rendered };
    const attempt = (transaction: ServerTransaction, locked: KnownUser) =>
      edit(transaction, context, locked, parameters.message_id, asked);
    const detached = await inOneChannel(() =>
      // A topic can have any number of messages.
      actor.changeMany(requested.propagateMode === 'change_one' ? 1 : Number.POSITIVE_INFINITY, attempt),
    );
    return { detached_uploads: detached };
  },
});

/**
 * Renders a message's new content, unless {@link checkAsked} rejects the request.
 * @throws ProtocolError BAD_REQUEST or EXPECTATION_MISMATCH if a check fails.
 */
async function renderAllowed(
  context: ServerContext & RenderingContext,
  actor: KnownUser,
  id: MessageId,
  requested: EditRequest,
): Promise<RenderedContent | undefined> {
  if (requested.content === undefined) return undefined;
  const { db } = context.database;
  const [message] = await findReadableMessages(db, actor, [id]);
  const channelId = message?.channelId;
  const [channel] = channelId === undefined ? [] : await findChannels(db, [channelId]);
  const settings = await readRealmSettings(db);
  checkAsked({ actor, message, now: context.clock(), origin: channel && { channel }, settings }, requested);
  const before = message?.renderedContent ?? '';
  return renderNewContent(db, context, actor, { content: requested.content, before });
}

async function edit(
  transaction: ServerTransaction,
  context: EditContext,
  locked: KnownUser,
  id: MessageId,
  asked: AskedEdit,
): Promise<DetachedUpload[] | 'moved'> {
  const { requested } = asked;
  const others = requested.channelId === undefined ? [] : [requested.channelId];
  const found = await lockMessage(transaction, locked, id, others);
  if (found === 'moved') return 'moved';
  const { message, channels } = found;
  const facts = await readEditFacts(transaction, context, locked, found, asked);
  const plan = planEdit(facts, requested);
  if (message === undefined) return [];
  return applyEdit(transaction, context, {
    plan,
    message,
    channels: editedChannels(channels, message, plan),
    actor: locked,
    now: facts.now,
    isTopicNew: facts.isTopicNew,
  });
}
