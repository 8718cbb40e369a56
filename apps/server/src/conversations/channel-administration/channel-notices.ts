import type { GroupId, UserId } from '@waxwing/protocol';
import { type GroupSettingValue, groupsIn, usersIn } from '../../people/permissions/group-setting-value.js';
import { boldName, channelLink } from '../../platform/names/name-in-markdown.js';
import { privacyName } from '../channels/channel-privacy.js';
import type { Channel, TopicsPolicy } from '../channels/channel-store.js';
import type { ChannelChange } from './channel-update.js';

/** Formats the names of users and groups for notices, as silent mentions. */
export interface NoticeNames {
  /** The user who made the change. */
  readonly actor: string;
  user(id: UserId): string;
  group(id: GroupId): string;
}

const policyNames: Readonly<Record<TopicsPolicy, string>> = {
  inherit: 'Same as the organization',
  allow_empty_topic: 'Topics with and without a name',
  disable_empty_topic: 'Only topics with a name',
  empty_topic_only: 'Only the topic without a name',
};

/** Returns the notices about a channel change, in Markdown: one for each kind of change that is announced. */
export function noticesOfChange(
  {
    change,
    before,
    after,
  }: { readonly change: ChannelChange; readonly before: Channel; readonly after: Channel },
  names: NoticeNames,
): string[] {
  const { actor } = names;
  const notices: string[] = [];
  if (change.privacy !== undefined && privacyName(before) !== privacyName(after)) {
    notices.push(
      `${actor} changed who can read this channel from **${privacyName(before)}** to **${privacyName(after)}**.`,
    );
  }
  if (change.topicsPolicy !== undefined) {
    const [was, is] = [policyNames[before.topicsPolicy], policyNames[after.topicsPolicy]];
    notices.push(`${actor} changed the setting for topics from **${was}** to **${is}**.`);
  }
  if (change.retentionDays !== undefined && before.retentionDays !== after.retentionDays) {
    notices.push(retentionNotice(actor, before.retentionDays, after.retentionDays));
  }
  if (change.isArchived !== undefined)
    notices.push(`The channel ${channelLink(after.id, after.name)} was unarchived.`);
  if (change.description !== undefined && before.description !== after.description) {
    const was = quoted('Old description', before.description);
    notices.push(
      `${actor} changed the description of this channel.\n\n${was}\n\n${quoted('New description', after.description)}`,
    );
  }
  if (change.name !== undefined) {
    notices.push(`${actor} renamed this channel from ${boldName(before.name)} to ${boldName(after.name)}.`);
  }
  const posting = change.permissions.find(({ name }) => name === 'can_send_message_group');
  if (posting !== undefined) {
    const [was, is] = [named(posting.before, names), named(posting.value, names)];
    notices.push(`${actor} changed who can post here.\n\n* **Old**: ${was}\n* **New**: ${is}`);
  }
  return notices;
}

/** Returns the Markdown of the notice that is posted in a new channel. */
export function creationNotice(channel: Channel, { actor }: Pick<NoticeNames, 'actor'>): string {
  const made = `${actor} created this channel: **${privacyName(channel)}**.`;
  return `${made}\n\n${quoted('Description', channel.description)}`;
}

function retentionNotice(actor: string, before: number | undefined, after: number | undefined): string {
  const from = `* **Old**: ${retentionName(before)}\n* **New**: ${retentionName(after)}`;
  const next =
    after === undefined
      ? 'From now on, the retention period of the organization applies to messages here.'
      : after < 0
        ? 'From now on, messages here are kept forever.'
        : `From now on, messages here are deleted ${daysName(after)} after they were sent.`;
  return `${actor} changed how long messages are kept.\n\n${from}\n\n${next}`;
}

function retentionName(days: number | undefined): string {
  if (days === undefined) return 'same as the organization';
  return days < 0 ? 'unlimited' : daysName(days);
}

function daysName(days: number): string {
  return days === 1 ? '1 day' : `${days} days`;
}

/**
 * Quotes a text, or a placeholder if the text is empty. The fence has four backticks, which are unlikely to occur in
 * the text.
 */
function quoted(label: string, text: string): string {
  return `* **${label}**:\n\n\`\`\`\` quote\n${text === '' ? '*No description.*' : text}\n\`\`\`\``;
}

/** Lists the groups and then the users in a permission's value, each sorted by id. */
function named(value: GroupSettingValue, names: NoticeNames): string {
  return [...groupsIn(value).map(names.group), ...usersIn(value).map(names.user)].join(', ');
}
