import fc from '../../../support/fast-check.js';

/** Groups in a world: role groups with irrelevant members, custom groups, and a group that does not exist. */
export const nobody = 1;
export const everyone = 2;
export const internet = 3;
export const deactivated = 4;
const unknown = 99;
const nestable = [11, 12, 13, 14];

const asked = fc.constantFrom(nobody, everyone, internet, deactivated, unknown, ...nestable);
const stored = fc.constantFrom(nobody, ...nestable);
/**
 * Generates `undefined` in most cases. Otherwise, nearly all requests would be refused because of their first field.
 */
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
const rarely = fc.nat({ max: 3 }).map((number) => number === 0);
const setting = maybe(fc.record({ new: asked, old: maybe(stored) }));

/** A user, a channel, and the change that the user requests. */
export const worlds = fc.record({
  role: fc.constantFrom<(100 | 200 | 300 | 400 | 600)[]>(100, 200, 300, 400, 600),
  kind: fc.constantFrom('web-public', 'public', 'shared', 'protected'),
  isArchived: fc.boolean(),
  isDefault: rarely,
  isSubscribed: fc.boolean(),
  topicsPolicy: fc.constantFrom('inherit', 'empty_topic_only'),
  /** For each nestable group: whether the user is a direct member, and its subgroups. */
  groups: fc.array(fc.record({ isIn: fc.boolean(), inner: fc.subarray(nestable, { maxLength: 2 }) }), {
    minLength: nestable.length,
    maxLength: nestable.length,
  }),
  channelGroups: fc.record({
    can_add_subscribers_group: stored,
    can_administer_channel_group: stored,
    can_create_topic_group: fc.constantFrom(everyone, everyone, ...nestable),
    can_delete_any_message_group: stored,
    can_subscribe_group: stored,
  }),
  realmGroups: fc.record({
    can_create_private_channel_group: stored,
    can_create_public_channel_group: stored,
    can_create_web_public_channel_group: stored,
    can_set_delete_message_policy_group: stored,
    can_set_topics_policy_group: stored,
  }),
  offersWebPublic: fc.boolean(),
  isModerationChannel: rarely,
  hasSubscribers: fc.boolean(),
  hasNamedTopics: fc.boolean(),
  isNameTaken: rarely,
  isFolderKnown: fc.boolean(),
  wish: fc.record({
    isPrivate: maybe(fc.boolean()),
    isWebPublic: maybe(fc.boolean()),
    isHistoryPublic: maybe(fc.boolean()),
    topicsPolicy: maybe(fc.constantFrom('inherit', 'empty_topic_only')),
    isDefault: maybe(fc.boolean()),
    retentionDays: maybe(fc.constantFrom(null, -1, 7)),
    isArchived: maybe(fc.boolean()),
    description: maybe(fc.constant('said')),
    name: maybe(fc.constantFrom('general', ' general ', 'General', 'other', ' ', 'x'.repeat(61), 'a\u0000')),
    folderId: maybe(fc.constantFrom(null, 5)),
    can_subscribe_group: setting,
    can_create_topic_group: setting,
    can_delete_any_message_group: setting,
  }),
});

export type World = typeof worlds extends fc.Arbitrary<infer Value> ? Value : never;

/** The groups of a world with their direct members and direct subgroups. */
export function groupsOf({ groups }: World, me: number): [number, { isMine: number[]; inner: number[] }][] {
  return nestable.map((id, index) => [
    id,
    { isMine: groups[index]?.isIn ? [me] : [], inner: groups[index]?.inner ?? [] },
  ]);
}

/** Walks all paths from the group, with at most as many steps as there are groups. */
function amIn(world: World, group: number, steps = nestable.length): boolean {
  const found = world.groups[nestable.indexOf(group)];
  if (found === undefined || steps < 0) return false;
  return found.isIn || found.inner.some((inner) => amIn(world, inner, steps - 1));
}

/** The channel's privacy after the change. `isKind` is `false` for an invalid combination. */
function privacyAfter({ kind, wish }: World) {
  const before = {
    isPrivate: kind === 'shared' || kind === 'protected',
    isWebPublic: kind === 'web-public',
    isHistoryPublic: kind !== 'protected',
  };
  let isHistoryPublic = before.isHistoryPublic;
  if (wish.isPrivate === true) isHistoryPublic = false;
  if (wish.isPrivate === false) isHistoryPublic = true;
  if (wish.isHistoryPublic !== undefined) isHistoryPublic = wish.isHistoryPublic;
  const after = { ...before, isHistoryPublic };
  if (wish.isPrivate !== undefined) after.isPrivate = wish.isPrivate;
  if (wish.isWebPublic !== undefined) after.isWebPublic = wish.isWebPublic;
  const kinds = ['false true true', 'false false true', 'true false true', 'true false false'];
  const isKind = kinds.includes(`${after.isPrivate} ${after.isWebPublic} ${after.isHistoryPublic}`);
  return { before, after, isKind };
}

type Rule = readonly [isBroken: boolean, says: string];
type SettingName = 'can_subscribe_group' | 'can_create_topic_group' | 'can_delete_any_message_group';

/** The rules for a group setting's new value. They do not apply to an unchanged value. */
function settingRules(
  world: World,
  name: SettingName,
  takesEveryone: boolean,
  more: readonly Rule[],
): Rule[] {
  const { wish, channelGroups } = world;
  const wanted = wish[name];
  if (wanted === undefined) return [];
  const current = channelGroups[name];
  const mismatch: Rule = [
    wanted.old !== undefined && wanted.old !== current,
    `The current value of ${name} is not the expected value`,
  ];
  if (wanted.new === current) return [mismatch];
  const cannotBe = (group: string) => `'${name}' setting cannot be set to '${group}' group`;
  return [
    mismatch,
    [wanted.new === unknown, 'Invalid user group'],
    [wanted.new === deactivated, 'User group is deactivated'],
    [wanted.new === internet, cannotBe('role:internet')],
    [wanted.new === everyone && !takesEveryone, cannotBe('role:everyone')],
    ...more,
  ];
}

/** The first error message in the order of the table; `undefined` if the change is allowed. */
export function firstRefusal(world: World): string | undefined {
  const { role, isSubscribed, wish, realmGroups, channelGroups } = world;
  const isGuest = role === 600;
  const isAdmin = role <= 200;
  const forMembers = (group: number) => !isGuest && amIn(world, group);
  const { before, after, isKind } = privacyAfter(world);
  const isLetIn =
    forMembers(channelGroups.can_subscribe_group) || forMembers(channelGroups.can_add_subscribers_group);
  const reads = before.isWebPublic || isSubscribed || (before.isPrivate ? isLetIn : !isGuest);
  const administers = isAdmin || forMembers(channelGroups.can_administer_channel_group);
  const isPrivacyAsked =
    wish.isPrivate !== undefined || wish.isWebPublic !== undefined || wish.isHistoryPublic !== undefined;
  const becomes = wish.isPrivate !== undefined && wish.isPrivate !== before.isPrivate;
  const opens = wish.isWebPublic === true && !before.isWebPublic;
  const isPolicyNew = wish.topicsPolicy !== undefined && wish.topicsPolicy !== world.topicsPolicy;
  const isTopicless = isPolicyNew && wish.topicsPolicy === 'empty_topic_only';
  const maySetTopics = isAdmin || amIn(world, realmGroups.can_set_topics_policy_group);
  const maySetDeleting = isAdmin || forMembers(realmGroups.can_set_delete_message_policy_group);
  const name = wish.name?.trim();
  const content: Rule = [!reads, 'Channel content access is required.'];
  const denied = 'Insufficient permission';
  const topics =
    wish.can_create_topic_group === undefined
      ? channelGroups.can_create_topic_group
      : wish.can_create_topic_group.new;
  const history = isPrivacyAsked ? after.isHistoryPublic : before.isHistoryPublic;
  const table: Rule[] = [
    [!administers && !reads, 'Invalid channel ID'],
    [!administers, 'You do not have permission to administer this channel.'],
    [isPrivacyAsked && !isKind, 'Invalid parameters'],
    [after.isPrivate && (wish.isDefault ?? world.isDefault), 'A default channel cannot be private.'],
    [!after.isPrivate && world.isModerationChannel, 'The moderation request channel must be private.'],
    [isPrivacyAsked && !reads, content[1]],
    [becomes && after.isPrivate && !forMembers(realmGroups.can_create_private_channel_group), denied],
    [becomes && !after.isPrivate && !forMembers(realmGroups.can_create_public_channel_group), denied],
    [opens && !world.offersWebPublic, 'Web-public channels are not enabled.'],
    [opens && !forMembers(realmGroups.can_create_web_public_channel_group), denied],
    [isTopicless && !maySetTopics, denied],
    [
      isTopicless && world.hasNamedTopics,
      'To enable this configuration, all messages in this channel must be in the general chat topic.',
    ],
    [wish.isDefault !== undefined && !isAdmin, "You don't have permission to change default channels."],
    [wish.retentionDays !== undefined && role !== 100, 'Must be an organization owner'],
    [wish.isArchived === false && !world.isArchived, 'Channel is not currently deactivated'],
    [wish.isArchived === true && !world.isArchived, 'Archive a channel with DELETE /streams/{stream_id}.'],
    [
      wish.isArchived !== undefined && before.isPrivate && !world.hasSubscribers,
      'Channel is private and has no subscribers',
    ],
    ...settingRules(world, 'can_delete_any_message_group', true, [[!maySetDeleting, denied]]),
    [name === 'general', 'Channel already has that name.'],
    [name === '', "Channel name can't be empty."],
    [(name ?? '').length > 60, 'Channel name too long (limit: 60 characters).'],
    [name === 'a\u0000', 'Invalid character in channel name, at position 2.'],
    [name !== undefined && world.isNameTaken, `Channel '${name}' already exists.`],
    [wish.folderId === 5 && !world.isFolderKnown, 'Invalid channel folder ID'],
    ...settingRules(world, 'can_create_topic_group', true, []),
    ...settingRules(world, 'can_subscribe_group', false, [content]),
    [!history && topics !== everyone, 'Invalid parameters'],
  ];
  return table.find(([isBroken]) => isBroken)?.[1];
}

/** The fields that an allowed change sets. */
export function expectedChange(world: World) {
  const { wish, channelGroups } = world;
  const { after } = privacyAfter(world);
  const isPrivacyAsked = [wish.isPrivate, wish.isWebPublic, wish.isHistoryPublic].some(
    (one) => one !== undefined,
  );
  const isPolicyNew = wish.topicsPolicy !== undefined && wish.topicsPolicy !== world.topicsPolicy;
  const names: SettingName[] = [
    'can_delete_any_message_group',
    'can_create_topic_group',
    'can_subscribe_group',
  ];
  const all = {
    privacy: isPrivacyAsked ? after : undefined,
    topicsPolicy: isPolicyNew ? wish.topicsPolicy : undefined,
    isDefault: wish.isDefault,
    retentionDays: wish.retentionDays,
    isArchived: wish.isArchived === undefined ? undefined : false,
    description: wish.description,
    name: wish.name?.trim(),
    folderId: wish.folderId,
    permissions: names.flatMap((name) => {
      const wanted = wish[name]?.new;
      if (wanted === undefined || wanted === channelGroups[name]) return [];
      return [{ name, before: channelGroups[name], value: wanted }];
    }),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
