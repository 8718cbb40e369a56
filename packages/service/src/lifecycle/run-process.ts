import closeWithGrace from 'close-with-grace';
import { ConfigurationError } from '../config/configuration-error.js';
import { fileTrouble, isFileTrouble } from '../config/file-trouble.js';
import type { Log } from '../logging/create-logger.js';
import { boundGarbage } from './bound-garbage.js';
import { describeListenTrouble } from './listen-trouble.js';

/** A running service: closing it stops taking requests, finishes or hands back what runs, and frees everything. */
export interface RunningService {
  close(): Promise<void>;
}

export interface ProcessOptions {
  readonly name: string;
  readonly log: Log;
  /** How long closing may take before the process exits anyway. */
  readonly closeDeadlineMilliseconds?: number;
  start(): Promise<RunningService>;
}

/**
 * Runs a service as this process: starts it, closes it on SIGTERM or SIGINT, and exits with 1 when the start fails. A
 * signal during the start lets that end, so that everything that it has opened is closed.
 * A failure that the operator can mend is printed as plain sentences, without a stack.
 */
export async function runProcess(options: ProcessOptions): Promise<void> {
  const { name, log, closeDeadlineMilliseconds = 10_000 } = options;
  boundGarbage();
  let hasStarted: (service: RunningService) => void = () => undefined;
  const started = new Promise<RunningService>((resolve) => {
    hasStarted = resolve;
  });
  // With Node's option for heap snapshots it asks for one; otherwise it would end the process without closing it.
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

/** One line for each thing that is wrong; unexpected errors keep their stack. */
export function describeBootError(error: unknown): string {
  const { code, message, path, stack, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof ConfigurationError) return error.problems.join('\n  ');
  const listenTrouble = describeListenTrouble(error);
  if (listenTrouble !== undefined) return listenTrouble;
  if (code === 'DATABASE_UNUSABLE' || code === 'DATABASE_UNAVAILABLE' || syscall === 'listen') return message;
  // What there is already in the place of a folder that is to be made is a file.
  const cause = code === 'EEXIST' ? { code: 'ENOTDIR' } : error;
  if (path !== undefined && isFileTrouble(cause)) return `${path} cannot be used: ${fileTrouble(cause)}.`;
  return stack ?? String(error);
}
