import type { ChannelId, GroupId, MessageId, UserId } from '@waxwing/protocol';
import type { ServerTransaction } from '#server/tables.js';

const roleValues = [100, 200, 300, 400, 400, 400, 600, 600];
const permissionNames = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
  'can_send_message_group',
];

/** Result of {@link makeRandomOrganisation}. */
export interface RandomOrganisation {
  readonly users: readonly { readonly id: UserId; readonly isBot: boolean }[];
  readonly channelIds: readonly ChannelId[];
  readonly messageIds: readonly MessageId[];
}

/** Replaces users, nested groups, channels of all kinds, subscriptions, permissions and copies with random ones. */
export async function makeRandomOrganisation(
  transaction: ServerTransaction,
  random: () => number,
): Promise<RandomOrganisation> {
  const maker = new Maker(transaction, random);
  await maker.clear();
  const users = await maker.users(14);
  const ids = users.map(({ id }) => id);
  const groupIds = await maker.groups(5, ids);
  const channelIds = await maker.channels(5, ids, groupIds);
  await maker.conversations(3, ids);
  return { users, channelIds, messageIds: await maker.messages(channelIds, ids) };
}

class Maker {
  readonly #db: ServerTransaction['db'];
  readonly #random: () => number;

  constructor({ db }: ServerTransaction, random: () => number) {
    this.#db = db;
    this.#random = random;
  }

  async clear(): Promise<void> {
    const db = this.#db;
    await db.deleteFrom('user_messages').execute();
    await db.deleteFrom('user_group_members').execute();
    await db.deleteFrom('messages').execute();
    await db.deleteFrom('conversation_participants').execute();
    await db.deleteFrom('conversations').execute();
    await db.deleteFrom('subscriptions').execute();
    await db.deleteFrom('permissions').execute();
    const own = db.selectFrom('user_groups').select('id').where('is_system', '=', 0);
    await db.deleteFrom('user_group_subgroups').where('group_id', 'in', own).execute();
    await db.deleteFrom('user_groups').where('is_system', '=', 0).execute();
    await db.deleteFrom('channels').execute();
    await db.deleteFrom('users').execute();
  }

  async users(count: number) {
    const made: { id: UserId; isBot: boolean }[] = [];
    for (let number = 0; number < count; number++) {
      const isBot = this.#is(0.1);
      const { id } = await this.#db
        .insertInto('users')
        .values({
          email: `${number}@example.com`,
          email_lower: `${number}@example.com`,
          full_name: `User ${number}`,
          role: this.#pick(roleValues),
          is_bot: Number(isBot),
          bot_owner_id: null,
          api_key_hash: 'none',
          is_active: Number(this.#is(0.85)),
          created_at: 0,
          avatar_url: null,
          system_bot: null,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      made.push({ id, isBot });
    }
    return made;
  }

  /** Creates groups. Each group may contain earlier groups. */
  async groups(count: number, userIds: readonly UserId[]): Promise<GroupId[]> {
    const made: GroupId[] = [];
    for (let number = 0; number < count; number++) {
      const name = this.#is(0.6) ? `group ${number}` : null;
      const { id } = await this.#db
        .insertInto('user_groups')
        .values({
          name,
          name_lower: name,
          description: '',
          is_system: 0,
          is_active: 1,
          creator_id: null,
          created_at: 0,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      for (const user_id of this.#some(userIds, 0.2))
        await this.#db.insertInto('user_group_members').values({ group_id: id, user_id }).execute();
      for (const subgroup_id of this.#some(made, 0.4))
        await this.#db.insertInto('user_group_subgroups').values({ group_id: id, subgroup_id }).execute();
      made.push(id);
    }
    return made;
  }

  async channels(count: number, userIds: readonly UserId[], groupIds: readonly GroupId[]) {
    const made: ChannelId[] = [];
    for (let number = 0; number < count; number++) {
      const isPrivate = this.#is(0.6);
      const isHistoryPublic = !isPrivate || this.#is(0.5);
      const { id } = await this.#db
        .insertInto('channels')
        .values({
          name: `channel ${number}`,
          name_lower: `channel ${number}`,
          description: '',
          rendered_description: '',
          is_default: 0,
          topics_policy: 'inherit',
          created_at: 0,
          is_private: Number(isPrivate),
          is_web_public: Number(!isPrivate && this.#is(0.3)),
          is_history_public: Number(isHistoryPublic),
          is_archived: Number(this.#is(0.2)),
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      for (const user_id of this.#some(userIds, 0.5)) await this.#subscribe(id, user_id);
      for (const name of this.#some(permissionNames, 0.5)) {
        const value = { level: 'channel' as const, owner_id: id, name, group_id: this.#pick(groupIds) };
        await this.#db.insertInto('permissions').values(value).execute();
      }
      made.push(id);
    }
    return made;
  }

  async #subscribe(channel_id: ChannelId, user_id: UserId): Promise<void> {
    const settings = { color: '#76ce90', is_muted: 0, pin_to_top: 0 };
    const row = { channel_id, user_id, is_active: Number(this.#is(0.7)), ...settings };
    await this.#db.insertInto('subscriptions').values(row).execute();
  }

  async conversations(count: number, userIds: readonly UserId[]): Promise<void> {
    for (let number = 0; number < count; number++) {
      const participants = this.#some(userIds, 0.2);
      const { id } = await this.#db
        .insertInto('conversations')
        .values({ participants: `${number}:${participants.join()}` })
        .returning('id')
        .executeTakeFirstOrThrow();
      for (const user_id of participants)
        await this.#db
          .insertInto('conversation_participants')
          .values({ conversation_id: id, user_id })
          .execute();
    }
  }

  /** Creates one message in each channel, with random copies. */
  async messages(channelIds: readonly ChannelId[], userIds: readonly UserId[]): Promise<MessageId[]> {
    const made: MessageId[] = [];
    for (const channel_id of channelIds) {
      const { id } = await this.#db
        .insertInto('messages')
        .values({
          sender_id: userIds[0] as UserId,
          channel_id,
          topic: 'one',
          topic_lower: 'one',
          content: '',
          rendered_content: '',
          sent_at: 0,
          client: 'test',
          has_link: 0,
          has_image: 0,
          has_attachment: 0,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      for (const user_id of this.#some(userIds, 0.4)) {
        const flags = this.#pick([0, 1, 2, 8]);
        await this.#db.insertInto('user_messages').values({ user_id, message_id: id, flags }).execute();
      }
      made.push(id);
    }
    return made;
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)] as Value;
  }

  #some<Value>(values: readonly Value[], share: number): Value[] {
    return values.filter(() => this.#is(share));
  }

  #is(probability: number): boolean {
    return this.#random() < probability;
  }
}
