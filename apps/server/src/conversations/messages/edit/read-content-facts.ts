import { contentHtmlDiff, hasVisibleCharacter, type RenderedMarkdown } from '@waxwing/markdown';
import type { UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables } from '../../../tables.js';
import { readMentionRights } from '../mention-rules.js';
import { subscribersIn } from '../message-readers.js';
import type { Message } from '../message-store.js';
import { readTopicSenders } from '../recipients.js';
import { type RenderingContext, renderContents } from '../render-content.js';
import { readNewContent } from '../send/message-text.js';
import type { ContentFacts } from './edit-facts.js';
import { type EditRequest, wantedMove } from './edit-request.js';

type Db = Kysely<ServerTables>;

/** Replaces content without visible characters. */
const blankContent = '(deleted)';

/** New content in its stored form, and its rendering. */
export interface RenderedContent {
  readonly source: string;
  readonly rendered: RenderedMarkdown;
  readonly diff: { readonly before: string; readonly html: string };
}

/**
 * Renders a message's new content and computes its diff from the HTML `before`. Slow: call this before taking locks.
 */
export async function renderNewContent(
  db: Db,
  context: RenderingContext,
  actor: PermissionHolder,
  { content, before }: { readonly content: string; readonly before: string },
): Promise<RenderedContent> {
  const source = hasVisibleCharacter(content) ? readNewContent(content) : blankContent;
  const [rendered] = (await renderContents(db, context, actor, [source])) as [RenderedMarkdown];
  await context.nextTick?.();
  return { source, rendered, diff: { before, html: contentHtmlDiff(before, rendered.html) } };
}

/** Reads the facts about a message's new content. The participants are those of the topic after the edit. */
export async function readContentFacts(
  db: Db,
  actor: PermissionHolder,
  message: Message,
  requested: EditRequest,
  { source, rendered, diff }: RenderedContent,
): Promise<ContentFacts> {
  const { channelWildcard, topicWildcard } = rendered.mentions;
  const { forbiddenGroups } = await readMentionRights(db, actor, rendered.mentions);
  const { channelId } = message;
  const subscribers = channelId !== undefined && channelWildcard ? await subscribersIn(db, channelId) : [];
  return {
    source,
    html: rendered.html,
    htmlDiff: message.renderedContent === diff.before ? diff.html : null,
    references: rendered,
    forbiddenGroups,
    subscribers: subscribers.length,
    participants:
      channelId !== undefined && topicWildcard ? await readParticipants(db, message, requested) : new Set(),
  };
}

/**
 * Reads the participants of the topic that the message will be in, including the senders of messages that move with it.
 */
async function readParticipants(db: Db, message: Message, requested: EditRequest): Promise<Set<UserId>> {
  const after = { ...message, topic: wantedMove(requested, message).topic };
  const topics = requested.propagateMode === 'change_one' ? [after] : [message, after];
  const senders = await readTopicSenders(db, topics);
  return new Set([message.senderId, ...[...senders.values()].flatMap((some) => [...some])]);
}
