import type { Kysely } from 'kysely';
import type { ServerContext } from '../../context.js';
import type { PermissionHolder } from '../../permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import { readMentionRights } from '../mention-rules.js';
import { subscribersIn } from '../message-readers.js';
import type { Message } from '../message-store.js';
import { readTopicSenders } from '../recipients.js';
import { renderContents } from '../render-content.js';
import { readNewContent } from '../send/message-text.js';
import type { ContentFacts } from './edit-facts.js';

type Db = Kysely<ServerTables>;

/** What stands for a content that says nothing. */
const blankContent = '(deleted)';

/** What a message's new content says, and what the rules ask of it. */
export async function readContentFacts(
  db: Db,
  realm: Pick<ServerContext['realm'], 'url'>,
  actor: PermissionHolder,
  { message, content }: { readonly message: Message; readonly content: string },
): Promise<ContentFacts> {
  const source = content.trim() === '' ? blankContent : readNewContent(content);
  const [rendered] = await renderContents(db, realm, actor, [source]);
  if (rendered === undefined) throw new Error('a text was not rendered');
  const { channelWildcard, topicWildcard } = rendered.mentions;
  const { forbiddenGroups } = await readMentionRights(db, actor, rendered.mentions);
  const { channelId } = message;
  const subscribers = channelId !== undefined && channelWildcard ? await subscribersIn(db, channelId) : [];
  const senders = topicWildcard ? await readTopicSenders(db, [message]) : new Map<string, Set<number>>();
  return {
    source,
    html: rendered.html,
    references: rendered,
    forbiddenGroups,
    subscribers: subscribers.length,
    participants: [...senders.values()][0]?.size ?? 0,
  };
}
