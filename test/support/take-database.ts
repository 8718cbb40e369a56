import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Makes another process try to lock the SQLite database exclusively, as SQLite before 3.51 does on each close. With the
 * lock, that process removes the write-ahead log. This can happen even if another process still uses the log but has
 * lost its locks.
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
