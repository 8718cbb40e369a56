import { CommandError } from '@waxwing/service/command-line';
import type { AccountSettings } from '../settings/account-settings.js';

/** @throws CommandError if the settings name a relay: they take precedence, so the command would change nothing. */
export function refuseIfConfigured({ relay }: Pick<AccountSettings, 'relay'>): void {
  if (relay.kind === 'not-configured') return;
  throw new CommandError(
    'The SERVER_RELAY_ settings name a relay and take precedence: remove SERVER_RELAY_URL, SERVER_RELAY_SERVER_ID and SERVER_RELAY_SERVER_KEY_FILE, and restart the server first.',
  );
}
