import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { DatabaseUnavailableError, openDatabase } from '@waxwing/storage';
import { KeyUseCounter } from '../keyring/uses/key-use-counter.js';
import { TransactionWriter } from '../registrations/write/transaction-writer.js';
import { type RelayTables, relayMigrations } from '../tables.js';
import type {
  RegistrationThreadData,
  ThreadAnswer,
  ThreadOrder,
  WriteAnswer,
  WriteOrder,
} from './thread-messages.js';

/** Entry point of the worker thread that writes registrations. It communicates only through messages. */

if (parentPort !== null) await serve(parentPort, workerData as RegistrationThreadData);

async function serve(orders: MessagePort, data: RegistrationThreadData): Promise<void> {
  const { answers, databaseUrl: url } = data;
  const answer = (what: ThreadAnswer): void => answers.postMessage(what);
  const database = await openDatabase<RelayTables>({
    url,
    role: 'helping',
    migrations: relayMigrations,
    onError: (trouble) => answer({ trouble }),
  });
  const writer = new TransactionWriter({ database, keyUses: new KeyUseCounter(Math.random) });
  const write = async ({ registrations, now }: WriteOrder): Promise<WriteAnswer> => {
    try {
      return { outcomes: await writer.write(registrations, now) };
    } catch (error) {
      return { error: error as Error, isUnavailable: error instanceof DatabaseUnavailableError };
    }
  };
  orders.on('message', async (order: ThreadOrder) => {
    if (order !== 'end') return answer(await Promise.all(order.map(write)));
    await database.close();
    orders.close();
  });
  answer('ready');
}
