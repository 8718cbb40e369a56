import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { addUsers } from '../../support/add-users.js';

import { Constellation, type ConstellationUser } from '../../support/constellation.js';
import { createTemporaryPostgres, type TemporaryPostgres } from '../../support/temporary-postgres.js';

export interface CrashWorldOptions {
  /** URL of the PostgreSQL server on which databases are created. `undefined` for SQLite files. */
  readonly postgresUrl: string | undefined;
  readonly users: number;
}

export interface CrashWorld {
  readonly constellation: Constellation;
  readonly users: readonly ConstellationUser[];
  close(): Promise<void>;
}

/** Creates a relay, a server and vendors, fully configured, with many users. Does not start the relay or the server. */
export async function createCrashWorld({ postgresUrl, users }: CrashWorldOptions): Promise<CrashWorld> {
  const databases: TemporaryPostgres[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-crash-'));
  let constellation: Constellation | undefined;
  const close = async (): Promise<void> => {
    await constellation?.close();
    for (const database of databases) await database.drop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const shared: { relay: Record<string, string>; server: Record<string, string> } = {
      relay: {},
      server: {},
    };
    if (postgresUrl !== undefined) {
      for (let count = 0; count < 2; count++) databases.push(await createTemporaryPostgres(postgresUrl));
      shared.relay = relayOnPostgres(databases[0]?.url ?? '', folder);
      shared.server = { SERVER_DATABASE: databases[1]?.url ?? '' };
    }
    constellation = await Constellation.create({
      relay: { RELAY_LOG_LEVEL: 'warn', ...shared.relay },
      server: { SERVER_LOG_LEVEL: 'warn', ...shared.server },
    });
    const names = Array.from({ length: users }, (_none, index) => `user-${index}`);
    return { constellation, users: await addUsers(constellation, names), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Settings for several relays, which share their key ring through the database. */
function relayOnPostgres(url: string, folder: string): Record<string, string> {
  return {
    RELAY_DATABASE: url,
    RELAY_KEY_RING: 'database',
    RELAY_KEY_AUDIT_LOG: join(folder, 'audit.jsonl'),
    RELAY_KEY_ADMIN_SOCKET: join(folder, 'relay.sock'),
  };
}
