import { userInfo } from 'node:os';
import type { Terminal } from '@waxwing/service/command-line';
import type { z } from 'zod';
import { type AdminQuestion, askAdminSocket } from '../../admin-socket/ask-admin-socket.js';
import type { RelayDatabase } from '../../tables.js';
import { withRelayDatabase } from '../../with-database.js';
import type { KeyAdmin, KeyOperation } from '../administration/key-admin.js';
import { type KeyRingConfiguration, readKeyRingEnvironmentAlone } from '../storage/key-ring-configuration.js';

/** Has an operation done: by the relay that runs, through its admin socket, or right here where none does. */
export async function runKeyOperation<Parameters extends z.ZodObject, Answer extends z.ZodObject>(
  terminal: Terminal,
  declared: KeyOperation<Parameters, Answer>,
  form: AdminQuestion['form'] = {},
): Promise<z.output<Answer>> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const question = { declared, form, operatorName: actorName() };
  const answer = await askAdminSocket(configuration.adminSocket, question);
  if (answer !== undefined) return answer;
  const { handleHere } = await import('../../admin-socket/handle-here.js');
  return await withKeyAdmin(terminal, configuration, (admin) => handleHere(admin, question));
}

/** Works on the ring right here. */
export async function withKeyAdmin<T>(
  terminal: Terminal,
  configuration: KeyRingConfiguration,
  work: (admin: KeyAdmin, database: RelayDatabase) => Promise<T>,
): Promise<T> {
  // Where a relay runs and is asked instead, none of this is needed.
  const { loadFastestSodium } = await import('@waxwing/sodium/native');
  const { createKeyAdmin, createKeyRingKeeper } = await import('../open-key-ring.js');
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
