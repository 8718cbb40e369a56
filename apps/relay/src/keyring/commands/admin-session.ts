import { userInfo } from 'node:os';
import type { Terminal } from '@waxwing/service/command-line';
import type { z } from 'zod';
import { type AdminQuestion, askAdminSocket } from '../../admin-socket/ask-admin-socket.js';
import type { RelayDatabase } from '../../tables.js';
import { withRelayDatabase } from '../../with-database.js';
import type { KeyAdmin, KeyOperation } from '../administration/key-admin.js';
import { type KeyRingConfiguration, readKeyRingEnvironmentAlone } from '../storage/key-ring-configuration.js';

/** Runs an operation in the running relay through its admin socket, or in this process if no relay is running. */
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

/** Runs `work` on the ring in this process. With `mayCreate`, creates the database if it is missing. */
export async function withKeyAdmin<T>(
  terminal: Terminal,
  configuration: KeyRingConfiguration,
  work: (admin: KeyAdmin, database: RelayDatabase) => Promise<T>,
  options: { readonly mayCreate?: boolean } = {},
): Promise<T> {
  // Lazy import: needed only if no running relay executes the operation.
  const { loadFastestSodium } = await import('@waxwing/sodium/native');
  const { createKeyAdmin, createKeyRingKeeper } = await import('../open-key-ring.js');
  const onDatabase = async (database: RelayDatabase): Promise<T> => {
    const { sodium } = await loadFastestSodium();
    const { clock } = terminal;
    const keeper = createKeyRingKeeper(configuration, { sodium, clock, database });
    const takeOver = async () => undefined;
    return await work(createKeyAdmin(keeper, { sodium, clock, database, takeOver }), database);
  };
  return withRelayDatabase(terminal, onDatabase, options);
}

/** Name of the user at the terminal, for the audit log. */
export function actorName(): string {
  try {
    const { username, uid } = userInfo();
    return username === '' ? `uid ${uid}` : username;
  } catch (error) {
    // A container may run as a user id that /etc/passwd does not list.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SYSTEM_ERROR') throw error;
    return `uid ${process.getuid?.()}`;
  }
}
