import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { openServerDatabase } from '#server/open-database.js';
import { addUsers } from '../../support/add-users.js';
import type { Constellation } from '../../support/constellation.js';
import { type Asked, ask, basicAuthorization } from '../crash/ask.js';
import { addFiles } from './member-files.js';
import { type Db, insertAll } from './member-rows.js';
import type { Scale } from './scale.js';

/** Data of an organization, and of a member who requests as much of it as possible. */
export interface MemberData {
  readonly authorization: string;
  /** The member's own id. */
  readonly userId: UserId;
  /** A channel with many long messages in many topics. */
  readonly library: MemberChannel;
  /** A channel with many subscribers. A group of the same name has the same members. */
  readonly crowd: MemberChannel;
  /** The subscribers of `crowd`. */
  readonly people: readonly UserId[];
  /** A channel with many short messages in one topic. */
  readonly moving: MemberChannel;
  /** Messages with several edits each. */
  readonly edited: readonly MessageId[];
  /** A message with the longest possible edit history. */
  readonly oftenEdited: MessageId;
  /** An event queue with as many events as one response can contain. */
  readonly queueId: string;
  /** A group without members that the member created. */
  readonly groupId: number;
  /** A message text with as many links to the member's files as possible. */
  readonly fileLinks: string;
}

interface MemberChannel {
  readonly id: ChannelId;
  readonly name: string;
  readonly messages: readonly MessageId[];
}

const channelNames = ['library', 'crowd', 'moving', 'edited'] as const;
/** Channels that many users join and leave. */
export const revolvingNames = ['door0', 'door1', 'door2', 'door3', 'door4'];
const mostEvents = 500;
const mostEdits = 1000;
const messagesPerFile = 100;
const words = Array.from({ length: 2000 }, (_, index) => `w${index.toString(36)}`);

/** A text with this many characters. Each seed produces different words. */
export function longText(characters: number, seed: number): string {
  let text = '';
  for (let index = seed; text.length < characters; index += 1) text += `${words[(index * 7919) % 2000]} `;
  return text.slice(0, characters - 1);
}

/** Adds all data while the server runs, mostly by direct inserts into the database. */
export async function addMemberData(world: Constellation, scale: Scale): Promise<MemberData> {
  const count = scale.memberMessages;
  const [user] = await addUsers(world, ['greedy']);
  if (user === undefined) throw new Error('addUsers added no user');
  const authorization = basicAuthorization(user.email, user.api_key);
  const api = `${world.serverUrl}/api/v1`;
  const post = (path: string, fields: Record<string, string>) =>
    successOf(ask(`${api}/${path}`, authorization, new URLSearchParams(fields)));
  await post('users/me/subscriptions', {
    subscriptions: JSON.stringify([...channelNames, ...revolvingNames].map((name) => ({ name }))),
  });
  const { body } = await post('register', { event_types: '["message"]' });
  const group = await post('user_groups/create', { name: 'crew', description: '', members: '[]' });
  const userId = user.user_id as UserId;
  const rows = await withServerDatabase(world, (db) => addRows(db, userId, scale));
  for (let sent = 0; sent < Math.min(count, mostEvents); sent += 1) {
    await post('messages', { type: 'direct', to: `[${user.user_id}]`, content: longText(2000, sent) });
  }
  const members = JSON.stringify(rows.people);
  await post('user_groups/create', { name: rows.crowd.name, description: '', members });
  const groupId = Number(group.body.group_id);
  return { authorization, userId, queueId: String(body.queue_id), groupId, ...rows };
}

async function successOf(asking: Promise<Asked>): Promise<Asked> {
  const asked = await asking;
  if (asked.status !== 200) throw new Error(`the server answered ${asked.status}: ${asked.body.msg}`);
  return asked;
}

async function withServerDatabase<Result>(
  { serverEnv }: Constellation,
  work: (db: Db) => Promise<Result>,
): Promise<Result> {
  const database = await openServerDatabase({
    url: new Secret(serverEnv.SERVER_DATABASE ?? ''),
    role: 'visiting',
    clock: Date.now,
    onJobError: (error) => {
      throw error;
    },
  });
  try {
    return await work(database.db);
  } finally {
    await database.close();
  }
}

async function addRows(db: Db, userId: UserId, { memberMessages: count, people: subscribers }: Scale) {
  const found = await db
    .selectFrom('channels')
    .select(['id', 'name'])
    .where('name', 'in', channelNames)
    .execute();
  const ids = new Map(found.map(({ id, name }) => [name, id]));
  const channel = async (
    name: (typeof channelNames)[number],
    size: number,
    textOf: (index: number) => string,
    topicOf: (index: number) => string,
  ): Promise<MemberChannel> => {
    const id = ids.get(name) as ChannelId;
    const texts = Array.from({ length: size }, (_, index) => ({
      text: textOf(index),
      topic: topicOf(index),
    }));
    return { id, name, messages: await addMessages(db, { channelId: id, userId }, texts) };
  };
  const library = await channel(
    'library',
    count,
    (index) => longText(9900, index),
    (index) => `t${index}`,
  );
  const moving = await channel(
    'moving',
    count,
    (index) => `text ${index}`,
    () => 'here',
  );
  const crowd = await channel(
    'crowd',
    1,
    () => 'hello',
    () => 'crowd',
  );
  const { messages } = await channel(
    'edited',
    201,
    (index) => longText(1400, index),
    () => 'edited',
  );
  const [oftenEdited, ...edited] = messages as [MessageId, ...MessageId[]];
  await addEdits(db, userId, [oftenEdited], Math.min(count, mostEdits), 2700);
  await addEdits(db, userId, edited, 10, 1400);
  const people = await addPeople(db, crowd.id, subscribers);
  const fileLinks = await addFiles(db, userId, count, moving.messages.slice(0, messagesPerFile));
  return { library, crowd, people, moving, edited, oftenEdited, fileLinks };
}

async function addMessages(
  db: Db,
  { channelId, userId }: { readonly channelId: ChannelId; readonly userId: UserId },
  texts: readonly { readonly text: string; readonly topic: string }[],
): Promise<MessageId[]> {
  await insertAll(
    db,
    'messages',
    texts.map(({ text, topic }) => ({
      sender_id: userId,
      channel_id: channelId,
      conversation_id: null,
      topic,
      topic_lower: topic,
      content: text,
      rendered_content: `<p>${text}</p>`,
      sent_at: Date.now(),
      client: 'attack',
      last_edited_at: null,
      last_moved_at: null,
      has_link: 0,
      has_image: 0,
      has_attachment: 0,
    })),
  );
  const rows = await db
    .selectFrom('messages')
    .select('id')
    .where('channel_id', '=', channelId)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Adds this many edits to each message, each with this much text. */
async function addEdits(
  db: Db,
  userId: UserId,
  messages: readonly MessageId[],
  count: number,
  characters: number,
): Promise<void> {
  const rows = messages.flatMap((id) =>
    Array.from({ length: count }, (_, index) => {
      const text = longText(characters, index);
      const before = { prev_content: text, prev_rendered_content: `<p>${text}</p>` };
      return {
        message_id: id,
        edited_at: Date.now(),
        editor_id: userId,
        ...before,
        content_html_diff: `<div><p>${text}</p></div>`,
      };
    }),
  );
  await insertAll(db, 'message_edits', rows);
}

/** Adds users with long profiles, and subscribes them to the channel. */
async function addPeople(db: Db, channelId: ChannelId, count: number): Promise<UserId[]> {
  const emails = Array.from({ length: count }, (_, index) => `person${index}@crowd.example`);
  await insertAll(
    db,
    'users',
    emails.map((email) => ({
      email,
      email_lower: email,
      full_name: email,
      role: 400,
      is_bot: 0,
      is_active: 1,
      api_key_hash: 'digest',
      created_at: 0,
    })),
  );
  const users = await db.selectFrom('users').select('id').where('email', 'like', '%@crowd.example').execute();
  const field = await db
    .insertInto('profile_fields')
    .values({
      type: 2,
      name: 'Life',
      hint: '',
      field_data: '',
      position: null,
      is_required: 0,
      is_editable_by_user: 1,
      is_in_summary: 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const value = longText(400, 0);
  await insertAll(
    db,
    'profile_values',
    users.map(({ id }) => ({ user_id: id, field_id: field.id, value, rendered_value: `<p>${value}</p>` })),
  );
  await insertAll(
    db,
    'subscriptions',
    users.map(({ id }) => ({
      channel_id: channelId,
      user_id: id,
      is_active: 1,
      color: '#76ce90',
      is_muted: 0,
      pin_to_top: 0,
    })),
  );
  return users.map(({ id }) => id);
}
