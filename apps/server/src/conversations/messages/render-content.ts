import {
  findReferences,
  type LinkableChannel,
  type LinkableTopic,
  type MarkdownFacts,
  type MentionableGroup,
  type MentionableUser,
  type RenderedMarkdown,
  renderMarkdown,
} from '@waxwing/markdown';
import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers, rowsAsTable } from '@waxwing/storage';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ServerContext } from '../../context.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { roleGroups } from '../../people/permissions/role-groups.js';
import { readRealmSetting } from '../../people/realm/realm-setting-store.js';
import { readVisibilityOf } from '../../people/users/user-visibility.js';
import type { ServerTables } from '../../tables.js';
import { isReadable, readableChannels } from './message-access.js';
import { topicKey } from './message-store.js';

type Db = Kysely<ServerTables>;

/** The parts of the server context that rendering uses. */
export interface RenderingContext extends Pick<ServerContext, 'linkifiers'> {
  readonly realm: Pick<ServerContext['realm'], 'url'>;
  /** The request's `nextTick`, which lets other requests run. Omit it inside transactions. */
  readonly nextTick?: () => Promise<void>;
}

/**
 * Length in UTF-16 code units above which rendering waits for the next tick. For shorter texts, the wait would take
 * longer than the rendering.
 */
const longText = 500;

/** The author of a text. `undefined` for the server itself, which may link to every channel. */
export type Author = PermissionHolder | undefined;

/**
 * Renders texts by one author. Resolves mentions and links only to users, channels and topics that the author can
 * see. Runs a constant number of statements.
 */
export async function renderContents(
  db: Db,
  context: RenderingContext,
  author: Author,
  contents: readonly string[],
): Promise<RenderedMarkdown[]> {
  const facts = await readFacts(db, context, author, contents);
  const rendered: RenderedMarkdown[] = [];
  for (const content of contents) {
    if (content.length > longText) await context.nextTick?.();
    rendered.push(renderMarkdown(content, facts));
  }
  return rendered;
}

/**
 * Like {@link renderContents}, for descriptions of channels and folders. Returns HTML. An empty description stays
 * empty.
 */
export async function renderDescriptions(
  db: Db,
  context: RenderingContext,
  author: Author,
  descriptions: readonly string[],
): Promise<string[]> {
  const rendered = await renderContents(db, context, author, descriptions);
  return rendered.map(({ html }, index) => (descriptions[index] === '' ? '' : html));
}

async function readFacts(
  db: Db,
  { realm, linkifiers }: RenderingContext,
  author: Author,
  contents: readonly string[],
): Promise<MarkdownFacts> {
  const named = contents.map(findReferences);
  const channels = await readChannels(
    db,
    author,
    named.flatMap(({ channelNames }) => channelNames),
  );
  return {
    realmUrl: realm.url,
    linkifiers: await linkifiers.read(db),
    defaultCodeLanguage: contents.some(hasFence)
      ? await readRealmSetting(db, 'default_code_block_language')
      : '',
    users: await readUsers(db, author, {
      names: named.flatMap(({ userNames }) => userNames),
      ids: named.flatMap(({ userIds }) => userIds),
    }),
    groups: await readGroups(
      db,
      named.flatMap(({ groupNames }) => groupNames),
    ),
    channels,
    topics: await readTopics(
      db,
      author,
      channels,
      named.flatMap(({ topics }) => topics),
    ),
  };
}

/** Returns whether the text may contain a code block, which needs the organization's default language. */
function hasFence(content: string): boolean {
  return /```|~~~/.test(content);
}

/** Returns names as the SQL table `v` with the column `name`. */
function namesAsTable(db: Db, names: readonly string[]): RawBuilder<unknown> {
  const rows = names.map((name) => ({ name }));
  return rowsAsTable(db, 'v', { name: 'text' }, rows);
}

async function readUsers(
  db: Db,
  author: Author,
  { names, ids }: { readonly names: readonly string[]; readonly ids: readonly UserId[] },
): Promise<MentionableUser[]> {
  if (names.length === 0 && ids.length === 0) return [];
  // Both sides use the database's `lower`, as the index does. With `or` instead of `union`, PostgreSQL would not use
  // the index.
  const withNames = sql`
    select id from users where lower(full_name) in (select lower(v.name) from ${namesAsTable(db, names)})`;
  const rows = await db
    .selectFrom('users')
    .select(['id', 'full_name', 'is_active', 'is_bot'])
    .where(
      'id',
      'in',
      sql<UserId>`(select id from users where id in ${amongNumbers(db, ids)} union ${withNames})`,
    )
    .orderBy('id', 'desc')
    .execute();
  const found = rows.map(({ id }) => id);
  const sees = author === undefined ? () => true : await readVisibilityOf(db, author, found);
  return rows
    .filter(({ id, is_bot }) => sees({ id, isBot: is_bot === 1 }))
    .map(({ id, full_name, is_active }) => ({
      userId: id,
      fullName: full_name,
      isActive: is_active === 1,
    }));
}

async function readGroups(db: Db, names: readonly string[]): Promise<MentionableGroup[]> {
  if (names.length === 0) return [];
  const wanted = namesAsTable(
    db,
    names.map((name) => name.toLowerCase()),
  );
  const rows = await db
    .selectFrom('user_groups')
    .select(['id', 'name', 'is_active'])
    .where(sql<boolean>`name_lower in (select v.name from ${wanted})`)
    .execute();
  return rows.map(({ id, name, is_active }) => ({
    groupId: id,
    name: name ?? '',
    displayName: roleGroups.find((role) => role.name === name)?.displayName ?? name ?? '',
    isActive: is_active === 1,
  }));
}

async function readChannels(db: Db, author: Author, names: readonly string[]): Promise<LinkableChannel[]> {
  if (names.length === 0) return [];
  const wanted = namesAsTable(
    db,
    names.map((name) => name.toLowerCase()),
  );
  const isWanted = sql<boolean>`name_lower in (select v.name from ${wanted})`;
  const rows = await db
    .selectFrom('channels')
    .select(['id', 'name'])
    .where(isWanted)
    .$if(author !== undefined, (query) =>
      query.where('id', 'in', sql<ChannelId>`(${readableChannels(author as PermissionHolder, isWanted)})`),
    )
    .execute();
  return rows.map(({ id, name }) => ({ channelId: id, name }));
}

async function readTopics(
  db: Db,
  author: Author,
  channels: readonly LinkableChannel[],
  named: readonly { readonly channelName: string; readonly topic: string }[],
): Promise<LinkableTopic[]> {
  const ids = new Map(channels.map(({ channelId, name }) => [name.toLowerCase(), channelId]));
  const asked = named.flatMap(({ channelName, topic }) => {
    const channelId = ids.get(channelName.toLowerCase());
    return channelId === undefined ? [] : [{ channel_id: channelId, topic: topicKey(topic) }];
  });
  if (asked.length === 0) return [];
  const wanted = rowsAsTable(db, 'v', { channel_id: 'integer', topic: 'text' }, asked);
  const { rows } = await sql<{ channel_id: ChannelId; topic_lower: string; newest: MessageId }>`
    select messages.channel_id, messages.topic_lower, max(messages.id) as newest
    from (select distinct v.channel_id, v.topic from ${wanted}) as wanted
    join messages on messages.channel_id = wanted.channel_id and messages.topic_lower = wanted.topic
    where ${author === undefined ? sql`1 = 1` : isReadable(author)}
    group by messages.channel_id, messages.topic_lower`.execute(db);
  return rows.map(({ channel_id, topic_lower, newest }) => ({
    channelId: channel_id,
    topic: topic_lower,
    newestMessageId: newest,
  }));
}
