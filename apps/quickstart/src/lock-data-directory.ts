import { ConfigurationError } from '@waxwing/service/config';
import { FileLockedError, withFileLock } from '@waxwing/storage';

/**
 * Locks a data directory. Resolves to a function that releases the lock. The lock is also released when the process
 * ends.
 * @throws ConfigurationError if another quickstart uses the directory.
 */
export function lockDataDirectory(dataDir: string, lockFile: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const held = withFileLock(
      lockFile,
      () =>
        new Promise<void>((release) =>
          resolve(async () => {
            release();
            await held;
          }),
        ),
      { patienceMilliseconds: 0 },
    );
    held.catch((cause: unknown) => {
      const problem = `the data directory ${dataDir} is in use by another quickstart: stop that one, or choose another with --data-dir.`;
      reject(cause instanceof FileLockedError ? new ConfigurationError([problem], { cause }) : cause);
    });
  });
}
