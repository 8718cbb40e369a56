import { createHash } from 'node:crypto';
import { renderMarkdown } from '@waxwing/markdown';
import type { ChannelAccess } from '#server/conversations/channels/channel-access.js';
import type { Channel } from '#server/conversations/channels/channel-store.js';
import type { ContentFacts, EditFacts } from '#server/conversations/messages/edit/edit-facts.js';
import type { EditRequest } from '#server/conversations/messages/edit/edit-request.js';
import { type RealmSettingValues, realmSettings } from '#server/people/realm/realm-settings.js';
import { type Role, roles } from '#server/platform/authentication/roles.js';
import { channelId, messageId, userId } from '../../../../support/ids.js';

export const now = 1_773_230_400_000;

const defaults = Object.fromEntries(
  Object.entries(realmSettings).map(([name, setting]) => [name, setting.default]),
) as RealmSettingValues;

function channelOf(id: number, fields: Partial<Channel> = {}): Channel {
  return {
    id: channelId(id),
    name: `channel ${id}`,
    description: '',
    renderedDescription: '',
    isPrivate: false,
    isWebPublic: false,
    isHistoryPublic: true,
    isDefault: false,
    isArchived: false,
    creatorId: undefined,
    createdAt: 0,
    retentionDays: undefined,
    folderId: undefined,
    topicsPolicy: 'inherit',
    notifiesPhones: false,
    firstMessageId: undefined,
    lastMessageAt: undefined,
    ...fields,
  };
}

export interface AccessFields {
  readonly role?: Role;
  readonly channel?: Partial<Channel>;
  readonly isSubscribed?: boolean;
  readonly held?: readonly string[];
}

/** The access of user 1 to a channel, with defaults. */
export function accessTo(id: number, fields: AccessFields = {}): ChannelAccess {
  const { role = roles.member, isSubscribed = true, held = [] } = fields;
  return {
    actor: { id: userId(1), role },
    channel: channelOf(id, fields.channel),
    isSubscribed,
    held: new Set(['can_send_message_group', 'can_create_topic_group', ...held]) as ChannelAccess['held'],
  };
}

interface FactFields extends Partial<Omit<EditFacts, 'settings' | 'held' | 'message'>> {
  readonly role?: Role;
  readonly settings?: Partial<RealmSettingValues>;
  readonly held?: readonly string[];
  readonly message?: Partial<NonNullable<EditFacts['message']>>;
}

/** The facts of an edit, by default: user 1 wrote message 10 in channel 1 a minute ago. */
export function factsOf(fields: FactFields = {}): EditFacts {
  const { role = roles.member, settings, held, message, ...others } = fields;
  return {
    now,
    actor: { id: userId(1), role },
    origin: accessTo(1, { role }),
    target: undefined,
    content: undefined,
    counted: undefined,
    isTopicNew: false,
    ...others,
    settings: { ...defaults, ...settings },
    held: new Set(
      held ?? [
        'can_move_messages_between_channels_group',
        'can_move_messages_between_topics_group',
        'can_resolve_topics_group',
      ],
    ) as EditFacts['held'],
    message: {
      id: messageId(10),
      senderId: userId(1),
      channelId: channelId(1),
      topic: 'lunch',
      content: 'hello',
      sentAt: now - 60_000,
      ...message,
    },
  };
}

/** The facts about a message's content. `participants` is the number of participants. */
export function contentOf(
  source: string,
  {
    participants = 2,
    ...fields
  }: Partial<Omit<ContentFacts, 'participants'>> & { readonly participants?: number } = {},
): ContentFacts {
  const people = new Set(Array.from({ length: participants }, (_, index) => userId(index + 1)));
  const { html, ...references } = renderMarkdown(source, { realmUrl: 'https://chat.example.com' });
  const usual = { htmlDiff: null, forbiddenGroups: [], subscribers: 2, participants: people };
  return { source, html, references, ...usual, ...fields };
}

export function wishOf(wish: Partial<EditRequest>): EditRequest {
  return { propagateMode: 'change_one', notifiesOldThread: false, notifiesNewThread: true, ...wish };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
