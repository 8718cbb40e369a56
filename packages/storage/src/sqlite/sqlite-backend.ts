import { Kysely } from 'kysely';
import type { Backend, BackendOptions } from '../backend.js';
import { DatabaseUnusableError } from '../database-unusable-error.js';
import { letRunAtOnce } from '../run-at-once.js';
import { logBytesOf } from './log-checkpoints.js';
import { keepUndoInMemory, lockForServing, openSqlite } from './open-sqlite.js';
import { SharedConnections } from './shared-connections.js';
import { createSqliteDialect, readingAtOnce, writingAtOnce } from './sqlite-dialect.js';
import { SqliteSignals } from './sqlite-signals.js';

/** @throws DatabaseUnusableError if the file cannot be opened, or another process serves from it. */
export function openSqliteBackend<Tables>(options: BackendOptions): Backend<Tables> {
  const path = options.url.slice('sqlite:'.length);
  if (path === '') throw new DatabaseUnusableError('The database URL names no file: write sqlite:<file>.');
  const unlock = options.role === 'serving' ? lockForServing(path) : () => undefined;
  try {
    const file = openSqlite(path, options);
    const connections = new SharedConnections(file, options);
    const db = new Kysely<Tables>({ dialect: createSqliteDialect(connections) });
    letRunAtOnce(db, readingAtOnce(connections));
    if (options.role === 'helping') keepUndoInMemory(file);
    const { role, onError } = options;
    const [writer, reader] = [connections.writer.database, connections.reader.database];
    const signals = new SqliteSignals({ role, writer, reader, onError });
    return {
      kind: 'sqlite',
      location: `SQLite file ${file.path}`,
      db,
      signals,
      writers: 1,
      isConflict: () => false,
      runAtOnce: writingAtOnce(connections),
      waitPatiently: async () => connections.yielded(),
      async migrating(work) {
        // No lock is needed, because each write transaction locks the whole file.
        await work({ db, lock: async () => {} });
        keepUndoInMemory(file);
      },
      async withWriteLock(work) {
        const release = await connections.lockForWritingWithRoom();
        try {
          return await work();
        } finally {
          // Also needed after a failure, because the failure may have happened after a write.
          connections.committed();
          release();
        }
      },
      logBytes: () => logBytesOf(file.path),
      isPoolExhausted: () => false,
      async close() {
        signals.close();
        await db.destroy();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}
