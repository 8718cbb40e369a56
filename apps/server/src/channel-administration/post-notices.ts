import type { UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { Channel } from '../channels/channel-store.js';
import { type SendingContext, sendMessages } from '../messages/insert-messages.js';
import { subscribersIn } from '../messages/message-readers.js';
import { type Author, type RenderingContext, renderContents } from '../messages/render-content.js';
import type { PermissionHolder } from '../permissions/permission-store.js';
import { readRealmSetting } from '../realm/realm-setting-store.js';
import type { ServerTables, ServerTransaction } from '../tables.js';
import { systemBotId } from '../users/system-bots.js';
import type { NoticeNames } from './channel-notices.js';

const noMentions = {
  ...{ userIds: [], silentUserIds: [], groupIds: [], silentGroupIds: [] },
  ...{ channelWildcard: false, topicWildcard: false },
};

/** The topic of what the server says of a channel. */
const noticeTopic = 'channel events';

interface Notice {
  readonly actor: PermissionHolder;
  readonly channel: Channel;
}

/**
 * Posts what is to be said of changed channels, if the organisation wants it. It is read as if the actor had written it,
 * since there is text of the actor's in it; and it mentions nobody.
 */
export async function postNotices(
  transaction: ServerTransaction,
  context: SendingContext & RenderingContext,
  { actor, channel }: Notice,
  write: (names: NoticeNames) => readonly string[],
): Promise<void> {
  const { db } = transaction;
  if (!(await readRealmSetting(db, 'send_channel_events_messages'))) return;
  const contents = write(await readNames(db, actor.id));
  if (contents.length === 0) return;
  await postAsNotificationBot(transaction, context, { author: actor, channel, topic: noticeTopic }, contents);
}

interface BotPost {
  /** Whose the names in the texts are. */
  readonly author: Author;
  /** Locked. */
  readonly channel: Channel;
  readonly topic: string;
}

/** Posts texts that mention nobody; in a channel without named topics, to the one that has no name. */
export async function postAsNotificationBot(
  transaction: ServerTransaction,
  context: SendingContext & RenderingContext,
  { author, channel, topic: named }: BotPost,
  contents: readonly string[],
): Promise<void> {
  const senderId = await systemBotId(transaction, 'notification-bot');
  const rendered = await renderContents(transaction.db, context, author, contents);
  const topic = channel.topicsPolicy === 'empty_topic_only' ? '' : named;
  const destination = { kind: 'channel' as const, channelId: channel.id, topic };
  // Of an archived channel nobody is shown that there is something to read.
  const readBy = channel.isArchived ? await subscribersIn(transaction.db, channel.id) : [];
  await sendMessages(
    transaction,
    context,
    rendered.map((each, index) => ({
      senderId,
      destination,
      content: contents[index] as string,
      rendered: { ...each, mentions: noMentions },
      client: 'Internal',
      readBy,
    })),
  );
}

async function readNames(db: Kysely<ServerTables>, actorId: UserId): Promise<NoticeNames> {
  const groups = await db
    .selectFrom('user_groups')
    .select(['id', 'name'])
    .where('name', 'is not', null)
    .execute();
  const groupNames = new Map(groups.map(({ id, name }) => [id, name]));
  return {
    actor: `@_**|${actorId}**`,
    user: (id) => `@_**|${id}**`,
    group: (id) => `@_*${groupNames.get(id) ?? ''}*`,
  };
}
