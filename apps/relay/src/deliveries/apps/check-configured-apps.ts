import { CommandError, type Terminal } from '@waxwing/service/command-line';
import { createLogger } from '@waxwing/service/logging';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { readRelayEnvironment } from '../../configuration.js';
import { readKeysOfRing } from '../../keyring/open-key-ring.js';
import { OutgoingAuthorities } from '../../network/outgoing-authorities.js';
import { withRelayDatabase } from '../../with-database.js';
import { productionTimings } from '../delivery-timings.js';
import { ProviderTokenStore } from '../vendors/apns/token.js';
import { AppRegistry } from './app-registry.js';
import { type AppCheck, checkApps } from './check-apps.js';

/**
 * Checks every app in `RELAY_APPS_FILE` with its vendor. Uses the APNs provider tokens in the relay's database, because
 * Apple allows one new token per 20 minutes.
 * @throws CommandError if no app is configured.
 */
export function checkConfiguredApps(terminal: Terminal, topic: string | undefined): Promise<AppCheck[]> {
  const { deliveries: configuration, keyRing, caFile } = readRelayEnvironment(terminal.environment);
  if (configuration.apps.kind === 'not-configured') {
    throw new CommandError(
      'RELAY_APPS_FILE is not set, so there is no app to check: set it to the value that the relay uses.',
    );
  }
  const { clock } = terminal;
  // Changes are not reported: the check changes at most the stored provider token.
  return withRelayDatabase({ ...terminal, noteChange: undefined }, async (database) => {
    const { sodium } = await loadFastestSodium();
    const { tokenVault, vapidKeys } = await readKeysOfRing(keyRing, { sodium, clock, database });
    const apps = await AppRegistry.open({
      configuration,
      clock,
      timings: productionTimings,
      // Silent: the results of the check contain the same information.
      log: createLogger('waxwing-relay', 'silent', { write: () => undefined }),
      authorities: await OutgoingAuthorities.open(caFile),
      providerTokens: new ProviderTokenStore(database, tokenVault),
      vapidKeys,
    });
    try {
      return await checkApps({ apps, configuration, clock, topic });
    } finally {
      await apps.close(0);
    }
  });
}
