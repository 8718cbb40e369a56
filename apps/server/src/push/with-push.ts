import type { PushRealm } from '@waxwing/server-push';
import { CommandError, type Terminal } from '@waxwing/service/command-line';
import type { Sodium } from '@waxwing/sodium';
import type { ServerConfiguration } from '../configuration.js';
import type { ServerDatabase } from '../tables.js';
import { withServerDatabase } from '../with-database.js';

/** What the push commands work with. */
export interface PushWork {
  readonly database: ServerDatabase;
  readonly configuration: ServerConfiguration;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
}

/** The end of a sentence that says that push is not enabled. */
export const enableRemedy =
  'run waxwing-server push enable --relay URL, or set SERVER_RELAY_URL, SERVER_RELAY_SERVER_ID and SERVER_RELAY_SERVER_KEY_FILE';

/** Runs a push command's work on the server's database. @throws CommandError for what the relay refuses. */
export async function withPush<Result>(
  terminal: Terminal,
  work: (push: PushWork) => Promise<Result>,
): Promise<Result> {
  // Imported lazily, so that help starts fast.
  const { PushAccountError } = await import('@waxwing/server-push');
  const { loadFastestSodium } = await import('@waxwing/sodium/native');
  const { readRealm } = await import('../people/realm/realm-store.js');
  return withServerDatabase(terminal, async (database, configuration) => {
    const realm = await readRealm(database, configuration.realm, terminal.clock());
    const { sodium } = await loadFastestSodium();
    try {
      return await work({ database, configuration, realm, sodium });
    } catch (error) {
      throw error instanceof PushAccountError ? new CommandError(error.message, { cause: error }) : error;
    }
  });
}
