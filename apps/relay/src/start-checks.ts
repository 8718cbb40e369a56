import { dirname } from 'node:path';
import { databaseStartCheck, readDatabaseState } from '@waxwing/administration';
import { requireWritableFolder, type StartCheck } from '@waxwing/service/config';
import { listeningStartCheck } from '@waxwing/service/http-settings';
import type { Clock } from '@waxwing/service/lifecycle';
import { tracingStartCheck } from '@waxwing/service/tracing';
import { requireSocketPath } from './admin-socket/open-admin-socket.js';
import type { RelayConfiguration } from './configuration.js';
import { relayFileChecks } from './file-checks.js';
import { checkStoredRing } from './keyring/check-stored-ring.js';
import { openRelayDatabase } from './open-database.js';
import { relayMigrations } from './tables.js';

/** Returns checks for everything that the relay needs to start. The checks do not listen, write or contact a vendor. */
export function relayStartChecks(configuration: RelayConfiguration, clock: Clock): StartCheck[] {
  const url = configuration.databaseUrl.reveal();
  const database = { url, migrations: relayMigrations, counters: ['relay_devices'] };
  return [
    { name: 'settings', check: async () => undefined },
    listeningStartCheck(configuration),
    tracingStartCheck(configuration.tracing),
    ...relayFileChecks(configuration),
    databaseStartCheck(database),
    { name: 'key-ring', check: () => checkKeyRing(configuration, clock) },
    adminSocketCheck(configuration.keyRing.adminSocket),
  ].filter((check) => check !== undefined);
}

async function checkKeyRing(
  { databaseUrl: url, keyRing }: RelayConfiguration,
  clock: Clock,
): Promise<string | undefined> {
  const isInFile = keyRing.location.kind === 'file';
  // Does not open a missing or outdated database, because that would create or migrate it.
  if (isInFile || !(await isUpToDate(url.reveal()))) return checkStoredRing(keyRing, clock, undefined);
  const database = await openRelayDatabase({ url, clock, role: 'visiting', onJobError: () => undefined });
  try {
    return await checkStoredRing(keyRing, clock, database);
  } finally {
    await database.close();
  }
}

async function isUpToDate(url: string): Promise<boolean> {
  const { missing, pending } = await readDatabaseState({ url, migrations: relayMigrations });
  return missing === undefined && pending.length === 0;
}

function adminSocketCheck(path: string): StartCheck {
  return {
    name: 'admin-socket',
    async check() {
      requireSocketPath(path);
      requireWritableFolder(dirname(path));
      return undefined;
    },
  };
}
