import { userInfo } from 'node:os';
import type { JsonObject } from '@waxwing/protocol';
import type { Terminal } from '@waxwing/service/command-line';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { RelayDatabase } from '../../tables.js';
import { withRelayDatabase } from '../../with-database.js';
import type { AdminCommandName } from '../administration/admin-commands.js';
import { callAdminSocket, runAdminCommand } from '../administration/admin-socket.js';
import type { KeyAdmin } from '../administration/key-admin.js';
import { type KeyRingConfiguration, readKeyRingEnvironmentAlone } from '../key-ring-configuration.js';
import { createKeyAdmin, createKeyRingKeeper } from '../open-key-ring.js';

/** Has a command done: by the relay that runs, through its admin socket, or right here where none does. */
export async function runKeyCommand(
  terminal: Terminal,
  command: AdminCommandName,
  given: JsonObject,
): Promise<JsonObject> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const call = { command, arguments: given, actor: actorName() };
  const answer = await callAdminSocket(configuration.adminSocket, call);
  return answer ?? (await withKeyAdmin(terminal, configuration, (admin) => runAdminCommand(admin, call)));
}

/** Works on the ring right here. */
export function withKeyAdmin<T>(
  terminal: Terminal,
  configuration: KeyRingConfiguration,
  work: (admin: KeyAdmin, database: RelayDatabase) => Promise<T>,
): Promise<T> {
  return withRelayDatabase(terminal, async (database) => {
    const { sodium } = await loadFastestSodium();
    const { clock } = terminal;
    const keeper = createKeyRingKeeper(configuration, { sodium, clock, database });
    const takeOver = async () => undefined;
    return await work(createKeyAdmin(keeper, { sodium, clock, database, takeOver }), database);
  });
}

/** Who is at the terminal, for the audit log. */
export function actorName(): string {
  const { username, uid } = userInfo();
  return username === '' ? `uid ${uid}` : username;
}
