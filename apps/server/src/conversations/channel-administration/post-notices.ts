import type { GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { readRealmSetting } from '../../people/realm/realm-setting-store.js';
import { systemBotId } from '../../people/users/system-bots.js';
import { boldName, isMentionable } from '../../platform/names/name-in-markdown.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import type { Channel } from '../channels/channel-store.js';
import { type SendingContext, sendMessages } from '../messages/insert-messages.js';
import { subscribersIn } from '../messages/message-readers.js';
import { type Author, type RenderingContext, renderContents } from '../messages/render-content.js';
import type { NoticeNames } from './channel-notices.js';

const noMentions = {
  userIds: [],
  silentUserIds: [],
  groupIds: [],
  silentGroupIds: [],
  channelWildcard: false,
  topicWildcard: false,
};

/** The topic of the notices about a channel's settings. */
const noticeTopic = 'channel events';

interface Notice {
  readonly actor: PermissionHolder;
  readonly channel: Channel;
  /** The groups that the notices mention. */
  readonly groupIds?: readonly GroupId[];
}

/**
 * Posts notices about a changed channel, if the organization has enabled such notices. The notices contain text that
 * the actor wrote, so they are rendered with the actor's access. Mentions in the notices send no notifications.
 */
export async function postNotices(
  transaction: ServerTransaction,
  context: SendingContext & RenderingContext,
  { actor, channel, groupIds = [] }: Notice,
  write: (names: NoticeNames) => readonly string[],
): Promise<void> {
  const { db } = transaction;
  if (!(await readRealmSetting(db, 'send_channel_events_messages'))) return;
  const contents = write(await readNames(db, actor.id, groupIds));
  if (contents.length === 0) return;
  await postAsNotificationBot(transaction, context, { author: actor, channel, topic: noticeTopic }, contents);
}

interface BotPost {
  /** Names in the texts resolve only to users and channels that this user can see. */
  readonly author: Author;
  /** The locked channel. */
  readonly channel: Channel;
  readonly topic: string;
}

/**
 * Posts texts as the Notification Bot, without mention notifications. If the channel allows only the unnamed topic,
 * posts them in that topic.
 */
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
  // In an archived channel, marks the notice as read: clients do not show unread messages there.
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

async function readNames(
  db: Kysely<ServerTables>,
  actorId: UserId,
  groupIds: readonly GroupId[],
): Promise<NoticeNames> {
  const groups =
    groupIds.length === 0
      ? []
      : await db
          .selectFrom('user_groups')
          .select(['id', 'name'])
          .where('id', 'in', amongNumbers(db, groupIds))
          .execute();
  const groupNames = new Map(groups.map(({ id, name }) => [id, name]));
  return {
    actor: `@_**|${actorId}**`,
    user: (id) => `@_**|${id}**`,
    group: (id) => {
      const name = groupNames.get(id) ?? '';
      return isMentionable(name) ? `@_*${name}*` : boldName(name);
    },
  };
}
