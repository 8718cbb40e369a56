import { CommandError } from '@waxwing/service/command-line';
import { type AdminNames, relaySettings } from '../admin-names.js';
import type { AccountSettings } from '../settings/account-settings.js';

/**
 * Checks that the settings do not name a relay. Such settings take precedence, so the command would have no effect.
 * @throws CommandError if the settings name a relay.
 */
export function refuseIfConfigured(
  { relay }: Pick<AccountSettings, 'relay'>,
  { prefix }: Pick<AdminNames, 'prefix'>,
): void {
  if (relay.kind === 'not-configured') return;
  throw new CommandError(
    `The ${prefix}RELAY_ settings name a relay and take precedence: remove ${relaySettings(prefix)}, and restart the server first.`,
  );
}
