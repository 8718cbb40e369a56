import { userInfo } from 'node:os';
import type { Terminal } from '@waxwing/service/command-line';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { z } from 'zod';
import { type AdminQuestion, askAdminSocket } from '../../admin-socket/ask-admin-socket.js';
import { handleHere } from '../../admin-socket/handle-here.js';
import type { RelayDatabase } from '../../tables.js';
import { withRelayDatabase } from '../../with-database.js';
import type { KeyAdmin, KeyOperation } from '../administration/key-admin.js';
import { type KeyRingConfiguration, readKeyRingEnvironmentAlone } from '../key-ring-configuration.js';
import { createKeyAdmin, createKeyRingKeeper } from '../open-key-ring.js';

/** Has an operation done: by the relay that runs, through its admin socket, or right here where none does. */
export async function runKeyOperation<Parameters extends z.ZodObject, Answer extends z.ZodObject>(
  terminal: Terminal,
  declared: KeyOperation<Parameters, Answer>,
  form: AdminQuestion['form'] = {},
): Promise<z.output<Answer>> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const question = { declared, form, operatorName: actorName() };
  const answer =
    (await askAdminSocket(configuration.adminSocket, question)) ??
    (await withKeyAdmin(terminal, configuration, (admin) => handleHere(admin, question)));
  return declared.answer.parse(answer);
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
