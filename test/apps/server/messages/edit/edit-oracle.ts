import { roles } from '#server/platform/authentication/roles.js';

/** The oracle's input: plain values, without types of the code under test. */
export interface OracleCase {
  readonly exists: boolean;
  readonly isDirect: boolean;
  readonly isArchived: boolean;
  readonly role: number;
  readonly isSender: boolean;
  readonly ageSeconds: number;
  readonly editing: boolean;
  readonly limits: {
    readonly content: number | null;
    readonly topic: number | null;
    readonly channel: number | null;
  };
  /** Permissions as `realm:…`, `old:…` and `new:…`. */
  readonly held: readonly string[];
  readonly target: 'same' | 'other' | 'absent' | 'archived';
  readonly isTargetPrivate: boolean;
  readonly isInTarget: boolean;
  readonly policy: string;
  readonly realmPolicy: string;
  readonly topic: string;
  readonly newTopic: string | undefined;
  readonly content: string | undefined;
  readonly hash: 'none' | 'right' | 'wrong';
  readonly mode: string;
  readonly subscribers: number;
  readonly participants: number;
  readonly forbidsGroup: boolean;
  readonly tooOld: number;
  readonly isTopicNew: boolean;
}

const young = (seconds: number, limit: number | null) => limit === null || seconds <= limit + 20;

/**
 * The outcome of a case by the rules of the chat API page: `done`, an error code, or the number of the failed check.
 */
export function judge(c: OracleCase): string {
  const has = (...names: string[]) => names.some((name) => c.held.includes(name));
  const leads = c.role === roles.owner || c.role === roles.administrator;
  const topicNow = c.isDirect ? '' : c.topic;
  const asked = c.newTopic === 'general chat' ? '' : c.newTopic;
  const newTopic = asked === topicNow ? undefined : asked;
  const goes = c.target !== 'absent' && c.target !== 'same' ? true : c.target === 'absent';
  const asksChannel = c.content === undefined ? goes || c.target === 'same' : false;
  const channelMoves = asksChannel && c.target !== 'same';
  const moves = newTopic !== undefined || channelMoves;
  const resolves = newTopic !== undefined && newTopic === `✔ ${topicNow}` && !topicNow.startsWith('✔ ');
  const opens = newTopic !== undefined && topicNow === `✔ ${newTopic}`;
  const marks = resolves || opens;
  const finalTopic = newTopic ?? topicNow;
  const policy = c.policy === 'inherit' ? c.realmPolicy : c.policy;
  const policyHere = channelMoves ? policy : c.realmPolicy;
  const side = channelMoves ? 'new:' : 'old:';
  const elder = c.role === roles.moderator || leads;
  // With change_all, only some of the messages may be too old. The refusal then says which messages can be moved.
  const isPartMovable = c.mode === 'change_all' && c.tooOld > 0;
  const failing: readonly (readonly [string, boolean])[] = [
    ['1', !c.exists || (!c.isDirect && c.isArchived)],
    ['2', c.content !== undefined && !c.editing],
    ['3', c.content !== undefined && !c.isSender],
    ['4', c.content !== undefined && !young(c.ageSeconds, c.limits.content)],
    ['6', c.content === undefined && newTopic === undefined && !channelMoves && !(c.isDirect && asksChannel)],
    ['7', c.isDirect && (asksChannel || c.newTopic !== undefined)],
    ['8', c.mode !== 'change_one' && !moves],
    ['9', newTopic === '✔' || newTopic === '✔ general chat'],
    ['10', newTopic?.includes('\u0007') ?? false],
    ['EXPECTATION_MISMATCH', c.hash === 'wrong'],
    [
      '15',
      !c.isDirect &&
        channelMoves &&
        (c.target !== 'other' || (!c.isInTarget && (c.isTargetPrivate || c.role === roles.guest))),
    ],
    [
      '16',
      !c.isDirect && moves && policyHere === 'disable_empty_topic' && ['', '(no topic)'].includes(finalTopic),
    ],
    ['17', !c.isDirect && policyHere === 'empty_topic_only' && finalTopic !== ''],
    [
      '18',
      marks &&
        !has(
          'realm:can_resolve_topics_group',
          'old:can_resolve_topics_group',
          `${side}can_resolve_topics_group`,
        ),
    ],
    [
      '19',
      newTopic !== undefined &&
        !marks &&
        !leads &&
        !has(
          'realm:can_move_messages_between_topics_group',
          'old:can_move_messages_within_channel_group',
          `${side}can_move_messages_within_channel_group`,
          'old:can_administer_channel_group',
          `${side}can_administer_channel_group`,
        ),
    ],
    [
      '20',
      newTopic !== undefined && !marks && !elder && !isPartMovable && !young(c.ageSeconds, c.limits.topic),
    ],
    [
      'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
      !c.isDirect &&
        c.content === '@**all**' &&
        c.subscribers >= 16 &&
        !has('realm:can_mention_many_users_group'),
    ],
    [
      'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
      !c.isDirect &&
        c.content === '@**topic**' &&
        c.participants >= 16 &&
        !has('realm:can_mention_many_users_group'),
    ],
    ['21', c.content !== undefined && c.forbidsGroup],
    [
      '22',
      channelMoves &&
        !leads &&
        !has(
          'realm:can_move_messages_between_channels_group',
          'old:can_move_messages_out_of_channel_group',
          'old:can_administer_channel_group',
        ),
    ],
    ['23', channelMoves && !has('new:can_send_message_group')],
    ['24', channelMoves && !elder && !isPartMovable && !young(c.ageSeconds, c.limits.channel)],
    [
      'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
      c.mode === 'change_all' &&
        !elder &&
        c.tooOld > 0 &&
        ((newTopic !== undefined && !marks && c.limits.topic !== null) ||
          (channelMoves && c.limits.channel !== null)),
    ],
    ['26', moves && !(marks && !channelMoves) && c.isTopicNew && !has(`${side}can_create_topic_group`)],
  ];
  const first = failing.find(
    ([name, fails]) =>
      fails &&
      (!c.isDirect || ['1', '2', '3', '4', '6', '7', '8', 'EXPECTATION_MISMATCH', '21'].includes(name)),
  );
  return first?.[0] ?? 'done';
}
