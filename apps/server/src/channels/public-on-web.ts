import type { ChannelId } from '@waxwing/protocol';
import { type RawBuilder, sql } from 'kysely';

/**
 * The one rule of what unauthenticated clients may know of and read, as a condition on rows of `channels`: web-public and not
 * archived. Whether the organization lets them read anything is `hasPublicAccess`'s question.
 */
export const isPublicOnWeb: RawBuilder<boolean> = sql<boolean>`(channels.is_web_public = 1 and channels.is_archived = 0)`;

/** The ids of these channels, for a statement about what is in them. */
export const channelsOnWeb: RawBuilder<ChannelId> = sql<ChannelId>`select channels.id from channels where ${isPublicOnWeb}`;

/** {@link isPublicOnWeb} for what is sent in a channel, as a condition on rows of `messages`; files go by their messages. */
export const isMessageOnWeb: RawBuilder<boolean> = sql<boolean>`messages.channel_id in (${channelsOnWeb})`;
