import type { ChannelId, UserId } from '@waxwing/protocol';
import type { ServerTransaction } from '#server/tables.js';
import type { OrganisationUnderTest } from '../organisation-under-test.js';

type Who = Parameters<OrganisationUnderTest['id']>[0];

export interface ChannelWish {
  readonly isPrivate?: boolean;
  readonly isHistoryPublic?: boolean;
  readonly isWebPublic?: boolean;
  readonly isArchived?: boolean;
  readonly topicsPolicy?: string;
  readonly members?: readonly Who[];
  readonly name?: string;
}

let channels = 0;

/** Inserts a channel with these members directly as rows. Other tests cover the creation of channels. */
export async function addChannel(
  organisation: OrganisationUnderTest,
  wish: ChannelWish = {},
): Promise<{ id: ChannelId; name: string }> {
  channels += 1;
  const { isPrivate = false, isHistoryPublic = !isPrivate, isWebPublic = false, isArchived = false } = wish;
  const { topicsPolicy = 'inherit', members = [], name = `channel ${channels}` } = wish;
  const { id } = await organisation.server.server.database.write(({ db }: ServerTransaction) =>
    db
      .insertInto('channels')
      .values({
        name,
        name_lower: name.toLowerCase(),
        description: '',
        rendered_description: '',
        is_private: isPrivate ? 1 : 0,
        is_web_public: isWebPublic ? 1 : 0,
        is_history_public: isHistoryPublic ? 1 : 0,
        is_default: 0,
        is_archived: isArchived ? 1 : 0,
        creator_id: null,
        created_at: organisation.server.now,
        message_retention_days: null,
        folder_id: null,
        topics_policy: topicsPolicy,
        first_message_id: null,
        last_message_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  for (const who of members) await subscribe(organisation, id, organisation.id(who));
  return { id, name };
}

/** Subscribes a user to a channel, or unsubscribes them. */
export async function subscribe(
  organisation: OrganisationUnderTest,
  channelId: ChannelId,
  userId: UserId,
  isActive = true,
): Promise<void> {
  await organisation.server.server.database.write(({ db }: ServerTransaction) =>
    db
      .insertInto('subscriptions')
      .values({
        channel_id: channelId,
        user_id: userId,
        is_active: isActive ? 1 : 0,
        color: '#76ce90',
        is_muted: 0,
        pin_to_top: 0,
        desktop_notifications: null,
        audible_notifications: null,
        push_notifications: null,
        email_notifications: null,
        wildcard_mentions_notify: null,
      })
      .onConflict((conflict) =>
        conflict.columns(['channel_id', 'user_id']).doUpdateSet({ is_active: isActive ? 1 : 0 }),
      )
      .execute(),
  );
}
