import closeWithGrace from 'close-with-grace';
import { ConfigurationError } from '../config/configuration-error.js';
import { fileTrouble, isFileTrouble } from '../config/file-trouble.js';
import type { Log } from '../logging/create-logger.js';
import { boundGarbage } from './bound-garbage.js';
import { describeListenTrouble } from './listen-trouble.js';

/** A running service. Closing it is a graceful shutdown: it stops accepting requests, drains, and frees all resources. */
export interface RunningService {
  close(): Promise<void>;
}

export interface ProcessOptions {
  readonly name: string;
  readonly log: Log;
  /** Time for a graceful shutdown before the process exits anyway. Default 10 seconds. */
  readonly closeDeadlineMilliseconds?: number;
  start(): Promise<RunningService>;
}

/**
 * Runs a service as this process. Shuts it down gracefully on SIGTERM or SIGINT; a signal during the start waits for the
 * start, so that everything is closed. Exits with 1 if the start fails. A failure that the operator can fix is printed as
 * plain sentences, without a stack.
 */
export async function runProcess(options: ProcessOptions): Promise<void> {
  const { name, log, closeDeadlineMilliseconds = 10_000 } = options;
  boundGarbage();
  let hasStarted: (service: RunningService) => void = () => undefined;
  const started = new Promise<RunningService>((resolve) => {
    hasStarted = resolve;
  });
  // A listener means that Node's heap snapshot option uses SIGUSR2. Otherwise the signal shuts down like the others.
  const skip = process.listenerCount('SIGUSR2') > 0 ? ['SIGUSR2' as const] : [];
  closeWithGrace({ delay: closeDeadlineMilliseconds, logger: false, skip }, async ({ err, signal }) => {
    if (err) log.error({ err }, 'unexpected error, closing');
    else log.info({ signal }, 'closing');
    await (await started).close();
    log.info('closed');
  });
  try {
    hasStarted(await options.start());
  } catch (error) {
    process.stderr.write(`${name}: ${describeBootError(error)}\n`);
    process.exit(1);
  }
}

/** Describes a startup error: one line per problem. An unexpected error keeps its stack. */
export function describeBootError(error: unknown): string {
  const { code, message, path, stack, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof ConfigurationError) return error.problems.join('\n  ');
  const listenTrouble = describeListenTrouble(error);
  if (listenTrouble !== undefined) return listenTrouble;
  if (code === 'DATABASE_UNUSABLE' || code === 'DATABASE_UNAVAILABLE' || syscall === 'listen') return message;
  // EEXIST: a file is in the place of a folder.
  const cause = code === 'EEXIST' ? { code: 'ENOTDIR' } : error;
  if (path !== undefined && isFileTrouble(cause)) return `${path} cannot be used: ${fileTrouble(cause)}.`;
  return stack ?? String(error);
}
