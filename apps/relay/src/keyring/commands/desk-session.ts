import { userInfo } from 'node:os';
import type { JsonObject } from '@waxwing/protocol';
import type { Terminal } from '@waxwing/service/command-line';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { RelayDatabase } from '../../tables.js';
import { withRelayDatabase } from '../../with-database.js';
import { callAdminSocket, callDesk } from '../administration/admin-socket.js';
import type { DeskCommandName } from '../administration/desk-commands.js';
import type { KeyDesk } from '../administration/key-desk.js';
import { type KeyRingConfiguration, readKeyRingEnvironmentAlone } from '../key-ring-configuration.js';
import { createKeyDesk, createKeyRingKeeper } from '../open-key-ring.js';

/** Has a command done: by the relay that runs, through its admin socket, or right here where none does. */
export async function askDesk(
  terminal: Terminal,
  command: DeskCommandName,
  given: JsonObject,
): Promise<JsonObject> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const call = { command, arguments: given, actor: actorName() };
  const answer = await callAdminSocket(configuration.adminSocket, call);
  return answer ?? (await withDesk(terminal, configuration, (desk) => callDesk(desk, call)));
}

/** Works on the ring right here. */
export function withDesk<T>(
  terminal: Terminal,
  configuration: KeyRingConfiguration,
  work: (desk: KeyDesk, database: RelayDatabase) => Promise<T>,
): Promise<T> {
  return withRelayDatabase(terminal, async (database) => {
    const { sodium } = await loadFastestSodium();
    const { clock } = terminal;
    const keeper = createKeyRingKeeper(configuration, { sodium, clock, database });
    const takeOver = async () => undefined;
    return await work(createKeyDesk(keeper, { sodium, clock, database, takeOver }), database);
  });
}

/** Who is at the terminal, for the audit log. */
export function actorName(): string {
  const { username, uid } = userInfo();
  return username === '' ? `uid ${uid}` : username;
}
