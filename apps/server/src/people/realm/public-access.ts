import { type RawBuilder, sql } from 'kysely';
import type { ServerContext } from '../../context.js';
import type { RealmSettingValues } from './realm-settings.js';

/**
 * Returns whether unauthenticated clients may read web-public content. Both the server and the organization must allow
 * it.
 */
export function hasPublicAccess(
  { offersWebPublicChannels }: Pick<ServerContext, 'offersWebPublicChannels'>,
  { enable_spectator_access }: Pick<RealmSettingValues, 'enable_spectator_access'>,
): boolean {
  return offersWebPublicChannels && enable_spectator_access;
}

/**
 * SQL condition on rows of `channels`: unauthenticated clients can see and read the channel if the organization has
 * public access. True for web-public channels that are not archived.
 */
export const isPublicOnWeb: RawBuilder<boolean> = sql<boolean>`(
  channels.is_web_public = 1 and channels.is_archived = 0
)`;

/**
 * Like {@link isPublicOnWeb}, as a condition on rows of `messages`. A file is as public as the messages that refer to
 * it.
 */
export const isMessageOnWeb: RawBuilder<boolean> = sql<boolean>`messages.channel_id in (
  select channels.id from channels where ${isPublicOnWeb}
)`;
