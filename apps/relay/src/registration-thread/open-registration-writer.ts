import { type MessagePort, Worker } from 'node:worker_threads';
import type { Secret } from '@waxwing/service/config';
import type { Closers } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { KeyUseCounter } from '../keyring/uses/key-use-counter.js';
import type { RegistrationWriter } from '../registrations/write/registration-writer.js';
import { StatementWriter } from '../registrations/write/statement-writer.js';
import { TransactionWriter } from '../registrations/write/transaction-writer.js';
import type { RelayDatabase } from '../tables.js';
import type { RegistrationThreadData } from './thread-messages.js';
import { ThreadedWriter } from './threaded-writer.js';

export interface RegistrationWriterOptions {
  readonly database: RelayDatabase;
  readonly databaseUrl: Secret<string>;
  readonly log: Log;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  /** Module that the thread runs. Default: the compiled module in this folder. */
  readonly threadModule?: URL | undefined;
}

const builtModule = new URL('./registration-thread.js', import.meta.url);

/**
 * Opens the writer of registrations. With SQLite, the first large batch starts a worker thread. With PostgreSQL, no
 * thread is needed, because the database runs in separate processes.
 */
export function openRegistrationWriter(
  { database, databaseUrl, log, random, threadModule }: RegistrationWriterOptions,
  closers: Closers,
): RegistrationWriter {
  const foundation = { database, keyUses: new KeyUseCounter(random) };
  const inline = new TransactionWriter(foundation);
  if (database.kind === 'postgres') return new StatementWriter({ ...foundation, inSteps: inline });
  const startThread = (answers: MessagePort) => startRegistrationThread(databaseUrl, answers, threadModule);
  const writer = new ThreadedWriter({ database, log, inline, startThread });
  closers.push(() => writer.close());
  return writer;
}

/**
 * Starts the worker thread that writes registrations to the database at `url`. The thread sends results to `answers`.
 */
export function startRegistrationThread(
  url: Secret<string>,
  answers: MessagePort,
  module: URL = builtModule,
): Worker {
  const workerData: RegistrationThreadData = { databaseUrl: url.reveal(), answers };
  return new Worker(module, { workerData, transferList: [answers], execArgv: [] });
}
