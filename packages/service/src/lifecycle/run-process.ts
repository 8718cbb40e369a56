import closeWithGrace from 'close-with-grace';
import { ConfigurationError } from '../config/configuration-error.js';
import type { Environment } from '../config/environment-reader.js';
import { fileTrouble, isFileTrouble } from '../config/file-trouble.js';
import { hideSecrets } from '../config/misplaced-secret.js';
import type { Log } from '../logging/create-logger.js';
import { boundGarbage } from './bound-garbage.js';
import { describeListenTrouble } from './listen-trouble.js';
import { notifySystemd } from './notify-systemd.js';

/**
 * A running service. Closing it is a graceful shutdown: the service stops accepting requests, drains, and frees all
 * resources.
 */
export interface RunningService {
  close(): Promise<void>;
  /** Makes a later `close` skip draining. */
  skipDrain?(): void;
}

export interface ProcessOptions<Service extends RunningService> {
  readonly name: string;
  readonly log: Log;
  /** The environment of this process, for {@link notifySystemd}. */
  readonly environment?: Environment;
  /** Additional time for closing, on top of ten seconds, before the process exits anyway. Default: 0. */
  readonly drainMilliseconds?: number;
  start(): Promise<Service>;
  /**
   * Reloads credentials on SIGHUP. If absent, SIGHUP shuts the service down, as it does when a terminal closes.
   * @throws ConfigurationError if the new credentials cannot be used; the previous credentials then stay in use
   */
  reload?(service: Service): Promise<void>;
}

const closeDeadlineMilliseconds = 10_000;

/**
 * Runs a service as this process. Shuts it down gracefully on SIGTERM or SIGINT, and reloads credentials on SIGHUP.
 * Delays signals until startup has finished, so that everything is closed. If startup fails, exits with 1. If the
 * operator can fix the failure, prints it in plain sentences without a stack trace.
 */
export async function runProcess<Service extends RunningService>(
  options: ProcessOptions<Service>,
): Promise<void> {
  const { name, log, drainMilliseconds = 0, environment = {} } = options;
  boundGarbage();
  let hasStarted: (service: Service) => void = () => undefined;
  const started = new Promise<Service>((resolve) => {
    hasStarted = resolve;
  });
  // SIGUSR2 has a listener if Node's heap snapshot option uses it. Otherwise it shuts the process down like the other
  // signals.
  const skip: ('SIGUSR2' | 'SIGHUP')[] = process.listenerCount('SIGUSR2') > 0 ? ['SIGUSR2'] : [];
  if (options.reload !== undefined && !process.stdout.isTTY) {
    skip.push('SIGHUP');
    let reloading: Promise<void> = Promise.resolve();
    process.on('SIGHUP', () => {
      // Reloads are serialized, because an earlier, slower reload must not restore old credentials.
      reloading = reloading.then(() => reload(options, started));
    });
  }
  const delay = drainMilliseconds + closeDeadlineMilliseconds;
  closeWithGrace({ delay, logger: false, skip }, async ({ err, signal }) => {
    if (err) log.error({ err }, 'unexpected error, closing');
    else log.info({ signal }, 'closing');
    await notifySystemd(environment, 'STOPPING=1', log);
    const service = await started;
    if (err) service.skipDrain?.();
    await service.close();
    log.info('closed');
  });
  try {
    hasStarted(await options.start());
    await notifySystemd(environment, 'READY=1', log);
  } catch (error) {
    const settings = Object.values(environment).filter((value) => value !== undefined);
    process.stderr.write(`${name}: ${hideSecrets(describeBootError(error), settings)}\n`);
    process.exit(1);
  }
}

async function reload<Service extends RunningService>(
  { log, reload }: ProcessOptions<Service>,
  started: Promise<Service>,
): Promise<void> {
  try {
    await reload?.(await started);
    log.info('credentials were reloaded');
  } catch (err) {
    const detail = err instanceof ConfigurationError ? { problems: err.problems } : { err };
    log.error(detail, 'credentials cannot be reloaded: the former ones stay in use');
  }
}

/** Describes a startup error: one line per problem. Unexpected errors keep their stack trace. */
export function describeBootError(error: unknown): string {
  const { code, message, path, stack, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof ConfigurationError) return error.problems.join('\n  ');
  const listenTrouble = describeListenTrouble(error);
  if (listenTrouble !== undefined) return listenTrouble;
  if (code === 'DATABASE_UNUSABLE' || code === 'DATABASE_UNAVAILABLE' || syscall === 'listen') return message;
  // EEXIST means that there is a file where a folder should be.
  const cause = code === 'EEXIST' ? { code: 'ENOTDIR' } : error;
  if (path !== undefined && isFileTrouble(cause)) return `${path} cannot be used: ${fileTrouble(cause)}.`;
  return stack ?? String(error);
}
