import type { ChannelId, GroupId, MessageId, UserId } from '@waxwing/protocol';
import type { Linkifier } from './linkifier.js';

/** A user that a message may mention. */
export interface MentionableUser {
  readonly userId: UserId;
  readonly fullName: string;
  /** Mentions of deactivated users are always silent. */
  readonly isActive: boolean;
}

/** A group that a message may mention. */
export interface MentionableGroup {
  readonly groupId: GroupId;
  /** The name that authors type: `role:members` for a role group. */
  readonly name: string;
  /** The name that readers see. Differs from `name` only for role groups. */
  readonly displayName: string;
  /** Mentions of deactivated groups are always silent. */
  readonly isActive: boolean;
}

/** A channel that the author has access to. */
export interface LinkableChannel {
  readonly channelId: ChannelId;
  readonly name: string;
}

/** A topic, with the newest message in the topic that the author can read. */
export interface LinkableTopic {
  readonly channelId: ChannelId;
  readonly topic: string;
  readonly newestMessageId: MessageId;
}

/** An emoji that the organization has uploaded. */
export interface CustomEmoji {
  readonly name: string;
  /** An `http:` or `https:` URL, or a path on the organization's server. */
  readonly sourceUrl: string;
}

/**
 * The data, other than the text itself, that determines the HTML. Names without an entry here stay as typed. Names of
 * users, groups, channels and topics are compared case-insensitively.
 */
export interface MarkdownFacts {
  /**
   * The organization's URL, such as `https://chat.example.com`. Links to the organization's conversations and uploads
   * become relative.
   */
  readonly realmUrl: string;
  /** The language of fenced code blocks that do not specify one. Default: no language. */
  readonly defaultCodeLanguage?: string;
  readonly users?: readonly MentionableUser[];
  readonly groups?: readonly MentionableGroup[];
  readonly channels?: readonly LinkableChannel[];
  readonly topics?: readonly LinkableTopic[];
  readonly linkifiers?: readonly Linkifier[];
  readonly customEmoji?: readonly CustomEmoji[];
}

/** Indexes `MarkdownFacts` for lookups in constant time. */
export class ResolvedFacts {
  readonly realmUrl: string;
  readonly defaultCodeLanguage: string;
  readonly linkifiers: readonly Linkifier[];
  readonly #usersById: ReadonlyMap<UserId, MentionableUser>;
  readonly #usersByName: ReadonlyMap<string, MentionableUser>;
  readonly #groups: ReadonlyMap<string, MentionableGroup>;
  readonly #channels: ReadonlyMap<string, LinkableChannel>;
  readonly #topics: ReadonlyMap<string, LinkableTopic>;
  readonly #customEmoji: ReadonlyMap<string, CustomEmoji>;

  constructor(facts: MarkdownFacts) {
    const users = facts.users ?? [];
    this.realmUrl = facts.realmUrl.replace(/\/$/, '');
    this.defaultCodeLanguage = facts.defaultCodeLanguage ?? '';
    this.linkifiers = facts.linkifiers ?? [];
    this.#usersById = new Map(users.map((user) => [user.userId, user]));
    // If users share a name, the last one wins, so active users come after deactivated users.
    const activeLast = [...users].sort((one, other) => Number(one.isActive) - Number(other.isActive));
    this.#usersByName = new Map(activeLast.map((user) => [fold(user.fullName), user]));
    this.#groups = new Map((facts.groups ?? []).map((group) => [fold(group.name), group]));
    this.#channels = new Map((facts.channels ?? []).map((channel) => [fold(channel.name), channel]));
    this.#topics = new Map(
      (facts.topics ?? []).map((topic) => [topicKey(topic.channelId, topic.topic), topic]),
    );
    this.#customEmoji = new Map((facts.customEmoji ?? []).map((emoji) => [emoji.name, emoji]));
  }

  /**
   * Finds the user that a mention names, by name or id. If both are given, both must match, and the name is
   * case-sensitive.
   */
  user(name: string | undefined, userId: UserId | undefined): MentionableUser | undefined {
    if (userId === undefined) return this.#usersByName.get(fold(name ?? ''));
    const user = this.#usersById.get(userId);
    return name === undefined || user?.fullName === name ? user : undefined;
  }

  group(name: string): MentionableGroup | undefined {
    return this.#groups.get(fold(name));
  }

  channel(name: string): LinkableChannel | undefined {
    return this.#channels.get(fold(name));
  }

  topic(channelId: ChannelId, topic: string): LinkableTopic | undefined {
    return this.#topics.get(topicKey(channelId, topic));
  }

  customEmoji(name: string): CustomEmoji | undefined {
    return this.#customEmoji.get(name);
  }
}

function topicKey(channelId: ChannelId, topic: string): string {
  return `${channelId} ${fold(topic)}`;
}

function fold(name: string): string {
  return name.toLowerCase();
}
