import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { amongNumbers, amongNumbersOf, fixedQuery } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { readRealmSetting } from '../../people/realm/realm-setting-store.js';
import type { Reader } from '../../people/users/address-visibility.js';
import { readDetails, type UserDetails } from '../../people/users/user-details.js';
import { asForUnauthenticated, asUnknown } from '../../people/users/user-record.js';
import { readVisibilityOf } from '../../people/users/user-visibility.js';
import type { ServerTables } from '../../tables.js';
import type { HistoryPolicy } from './edit-entries.js';
import { type MessageEdit, readNewestEdits } from './history/newest-edits.js';
import type { ShownMessage } from './message-store.js';

type Db = Kysely<ServerTables>;

/** The related records that message records are built from. A lookup throws for an id that no message refers to. */
export interface RelatedRecords {
  readonly realm: Pick<PushRealm, 'url'>;
  readonly historyPolicy: HistoryPolicy;
  /** The senders and participants. */
  readonly userIds: readonly UserId[];
  user(id: UserId): UserDetails;
  channelName(id: ChannelId): string;
  /** In ascending order. */
  participantsOf(conversationId: number): readonly UserId[];
  /** Returns the newest edits, newest first. */
  editsOf(messageId: MessageId): readonly MessageEdit[];
}

/**
 * Reads the related records of messages, in at most six statements. Without edits (`showsEdits` is false), runs two
 * statements fewer.
 */
export async function readRelatedRecords(
  db: Db,
  realm: Pick<PushRealm, 'url'>,
  messages: readonly ShownMessage[],
  { showsEdits = true }: { readonly showsEdits?: boolean } = {},
): Promise<RelatedRecords> {
  const historyPolicy: HistoryPolicy = showsEdits
    ? await readRealmSetting(db, 'message_edit_history_visibility_policy')
    : 'none';
  const conversations = await readConversations(db, messages);
  const channels = await readChannelNames(db, messages);
  const edits =
    historyPolicy === 'none'
      ? new Map<MessageId, MessageEdit[]>()
      : await readNewestEdits(
          db,
          messages.map(({ id }) => id),
        );
  const userIds = unique([
    ...messages.map(({ senderId }) => senderId),
    ...[...conversations.values()].flat(),
  ]);
  const users = await readUsers(db, userIds);
  return {
    realm,
    historyPolicy,
    userIds,
    user: (id) => known(users, id),
    channelName: (id) => known(channels, id),
    participantsOf: (id) => known(conversations, id),
    editsOf: (id) => edits.get(id) ?? [],
  };
}

/**
 * Returns the related records as seen by one reader: users hidden from the reader have a placeholder name and avatar
 * and no email address.
 */
export function hidingUsers(related: RelatedRecords, sees: (user: UserDetails) => boolean): RelatedRecords {
  return {
    ...related,
    user(id) {
      const user = related.user(id);
      return sees(user) ? user : asUnknown(user);
    },
  };
}

/**
 * Like {@link readRelatedRecords}, limited to what one reader can see. Unauthenticated clients get no edit history
 * and no email addresses.
 */
export async function readRelatedRecordsFor(
  db: Db,
  realm: Pick<PushRealm, 'url'>,
  reader: Reader,
  messages: readonly ShownMessage[],
): Promise<RelatedRecords> {
  const showsEdits = reader !== undefined;
  const related = await readRelatedRecords(db, realm, messages, { showsEdits });
  const seen = hidingUsers(related, await readVisibilityOf(db, reader, related.userIds));
  return reader === undefined ? { ...seen, user: (id) => asForUnauthenticated(seen.user(id)) } : seen;
}

function known<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new Error(`a message refers to ${String(key)}, which was not read`);
  return value;
}

async function readUsers(db: Db, ids: readonly UserId[]): Promise<ReadonlyMap<UserId, UserDetails>> {
  if (ids.length === 0) return new Map();
  return new Map((await readDetails(db, ids)).map((user) => [user.id, user]));
}

async function readChannelNames(
  db: Db,
  messages: readonly ShownMessage[],
): Promise<ReadonlyMap<ChannelId, string>> {
  const ids = unique(messages.map(({ channelId }) => channelId));
  if (ids.length === 0) return new Map();
  const rows = await channelNames(db, { ids: JSON.stringify(ids) });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** A JSON array of row ids. */
interface Ids {
  readonly ids: string;
}

const channelNames = fixedQuery<ServerTables, Ids, { id: ChannelId; name: string }>((db, parameter) =>
  db
    .selectFrom('channels')
    .select(['id', 'name'])
    .where('id', 'in', amongNumbersOf<ServerTables, ChannelId>(db, parameter('ids'))),
);

async function readConversations(
  db: Db,
  messages: readonly ShownMessage[],
): Promise<ReadonlyMap<number, readonly UserId[]>> {
  const ids = unique(messages.map(({ conversationId }) => conversationId));
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('conversations')
    .select(['id', 'participants'])
    .where('id', 'in', amongNumbers(db, ids))
    .execute();
  return new Map(rows.map(({ id, participants }) => [id, readUserIds(participants)]));
}

/** Parses comma-separated user ids, the format of a conversation's `participants` column. */
export function readUserIds(text: string): UserId[] {
  return text.split(',').map((id) => Number(id) as UserId);
}

function unique<Id extends number>(ids: readonly (Id | undefined)[]): Id[] {
  return [...new Set(ids.filter((id) => id !== undefined))];
}
