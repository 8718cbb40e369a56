import type { ServerContext } from '../context.js';
import type { RealmSettingValues } from './realm-settings.js';

/**
 * Whether people without an account may read what is public on the web: both the server and the organisation must say so.
 */
export function hasPublicAccess(
  { offersWebPublicChannels }: Pick<ServerContext, 'offersWebPublicChannels'>,
  { enable_spectator_access }: Pick<RealmSettingValues, 'enable_spectator_access'>,
): boolean {
  return offersWebPublicChannels && enable_spectator_access;
}
