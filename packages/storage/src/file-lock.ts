import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { makePrivateFile } from './database-file.js';

const retryMilliseconds = 20;

export interface FileLockOptions {
  /** How long to wait for another holder to release the lock, in milliseconds; default 10,000. */
  readonly patienceMilliseconds?: number;
}

/** Another process, or other code in this process, holds the lock. */
export class FileLockedError extends Error {
  constructor(path: string) {
    super(`another process holds the lock ${path}: wait until it ends, or stop it`);
    this.name = 'FileLockedError';
  }
}

/**
 * Runs `action` while holding the exclusive lock at `path`, which excludes other processes and other code in this
 * process. The operating system releases the lock when the process ends. The empty lock file stays behind, which is
 * harmless.
 *
 * @throws FileLockedError if another holder does not release the lock within `patienceMilliseconds`
 */
export async function withFileLock<Result>(
  path: string,
  action: () => Promise<Result>,
  { patienceMilliseconds = 10_000 }: FileLockOptions = {},
): Promise<Result> {
  makePrivateFile(path);
  const lock = new DatabaseSync(path);
  try {
    for (let waited = 0; !tryLock(lock); waited += retryMilliseconds) {
      if (waited >= patienceMilliseconds) {
        throw new FileLockedError(path);
      }
      await wait(retryMilliseconds);
    }
    return await action();
  } finally {
    lock.close();
  }
}

function tryLock(lock: InstanceType<typeof DatabaseSync>): boolean {
  try {
    lock.exec('begin exclusive');
    return true;
  } catch (error) {
    if (/locked|busy/i.test((error as Error).message)) return false;
    throw error;
  }
}
