import { findRelayAccount, readRelayKey } from '@waxwing/server-push';
import { readAuthorities, type StartCheck } from '@waxwing/service/config';
import { AdminToken } from '@waxwing/service/dashboard';
import type { ServerConfiguration } from './configuration.js';
import { readStoreKey } from './content/uploads/file-store/open-file-store.js';
import { adminNames } from './push/admin-names.js';
import type { ServerDatabase } from './tables.js';

/**
 * Returns checks for the files that a running server needs: the files in the settings, and the key of a relay account
 * that `push enable` stored.
 */
export function watchedChecks(configuration: ServerConfiguration, database: ServerDatabase): StartCheck[] {
  const checks = serverFileChecks(configuration);
  // If the settings specify the relay account, the database has no account to check.
  return configuration.relay.kind === 'configured'
    ? checks
    : [...checks, relayAccountCheck(configuration, database)];
}

/**
 * Returns a check that reads the server's relay account and the files that it needs. Without an account, the check
 * resolves to a note.
 */
export function relayAccountCheck(
  configuration: ServerConfiguration,
  database: Pick<ServerDatabase, 'db'>,
): StartCheck {
  return {
    name: 'relay-account',
    async check() {
      const { account } = await findRelayAccount(database, configuration, adminNames);
      return account.kind === 'configured'
        ? undefined
        : 'none: phones are not notified until you run "push enable"';
    },
  };
}

/**
 * Returns checks for the files in the settings, such as the server's relay key, certificate authorities, and the key
 * of an S3 store.
 */
export function serverFileChecks({
  relay,
  relayNetwork: { caFile },
  uploads: { store },
  dashboard,
}: ServerConfiguration): StartCheck[] {
  const checks: StartCheck[] = [];
  if (store.kind === 's3') {
    checks.push({
      name: 'uploads-key',
      async check() {
        await readStoreKey(store);
        return undefined;
      },
    });
  }
  if (relay.kind === 'configured') {
    checks.push({
      name: 'relay-key',
      async check() {
        await readRelayKey(relay, adminNames);
        return undefined;
      },
    });
  }
  if (caFile !== undefined) {
    checks.push({
      name: 'relay-authorities',
      async check() {
        await readAuthorities(caFile, `${adminNames.prefix}RELAY_CA_FILE`);
        return undefined;
      },
    });
  }
  if (dashboard.kind === 'on') {
    checks.push({
      name: 'admin-token',
      async check() {
        await AdminToken.open(dashboard.tokenFile);
        return undefined;
      },
    });
  }
  return checks;
}
