import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Makes another process request an exclusive lock on the database, as SQLite before 3.51 does at each close. A process
 * that gets the lock removes the log, even if another process still uses it but has lost its locks.
 */
export async function takeInAnotherProcess(path: string): Promise<'taken' | 'refused'> {
  const program = `
    import { DatabaseSync } from '@photostructure/sqlite';
    const database = new DatabaseSync(${JSON.stringify(path)});
    database.exec('pragma locking_mode = exclusive');
    try {
      database.exec('pragma wal_checkpoint(truncate); pragma journal_mode = delete');
      process.stdout.write('taken');
    } catch (error) {
      if (!/locked/.test(error.message)) throw error;
      process.stdout.write('refused');
    }
    database.close();`;
  const cwd = join(import.meta.dirname, '../..');
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd,
  });
  return stdout as 'taken' | 'refused';
}
