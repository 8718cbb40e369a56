import { databaseStartCheck, readDatabaseState } from '@waxwing/administration';
import type { StartCheck } from '@waxwing/service/config';
import { listeningStartCheck } from '@waxwing/service/http-settings';
import type { Clock } from '@waxwing/service/lifecycle';
import { tracingStartCheck } from '@waxwing/service/tracing';
import type { ServerConfiguration } from './configuration.js';
import { openFileStore } from './content/uploads/file-store/open-file-store.js';
import { checkUploadsFolder } from './content/uploads/file-store/uploads-folder.js';
import { relayAccountCheck, serverFileChecks } from './file-checks.js';
import { openServerDatabase } from './open-database.js';
import { serverMigrations } from './tables.js';

/** Returns checks of everything that the server needs to start. The checks do not open a port or create anything. */
export function serverStartChecks(configuration: ServerConfiguration, clock: Clock): StartCheck[] {
  const { databaseUrl, uploads } = configuration;
  const database = { url: databaseUrl.reveal(), migrations: serverMigrations, counters: ['client_devices'] };
  return [
    { name: 'settings', check: async () => undefined },
    listeningStartCheck(configuration),
    tracingStartCheck(configuration.tracing),
    ...serverFileChecks(configuration),
    {
      name: 'uploads',
      async check() {
        if (uploads.store.kind === 'disk') return checkUploadsFolder(uploads.store.folder);
        await openFileStore(uploads);
        return undefined;
      },
    },
    databaseStartCheck(database),
    { name: 'relay-account', check: () => checkRelayAccount(configuration, clock) },
  ].filter((check) => check !== undefined);
}

async function checkRelayAccount(
  configuration: ServerConfiguration,
  clock: Clock,
): Promise<string | undefined> {
  const { databaseUrl: url, relay } = configuration;
  if (relay.kind === 'configured') return undefined;
  const { missing, pending } = await readDatabaseState({ url: url.reveal(), migrations: serverMigrations });
  // Opening the database would create or migrate it.
  if (missing !== undefined || pending.length > 0) return 'not read: the tables are not up to date';
  const database = await openServerDatabase({ url, clock, role: 'visiting', onJobError: () => undefined });
  try {
    return await relayAccountCheck(configuration, database).check();
  } finally {
    await database.close();
  }
}
