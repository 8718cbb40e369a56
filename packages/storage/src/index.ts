export * from './advisory-locks.js';
export * from './bulk-insert.js';
export * from './bulk-statement.js';
export * from './database-unavailable-error.js';
export * from './database-unusable-error.js';
export * from './file-lock.js';
export * from './fixed-query.js';
export { type ForeignConnection, withinTransaction } from './foreign-connection.js';
export * from './in-pieces.js';
export * from './is-postgres.js';
export * from './keeping-rows.js';
export { type MigrationSet, type MigrationStatus, readMigrationStatus } from './migrate.js';
export {
  type Database,
  migrationStatus,
  missingFile,
  type OpenDatabaseOptions,
  openDatabase,
  type SingleResult,
} from './open-database.js';
export * from './portable-columns.js';
export * from './raise-id-counter.js';
export * from './read-pages.js';
export * from './remove-in-batches.js';
export * from './remove-in-pages.js';
export * from './require-rights.js';
export * from './rows-as-table.js';
export { rowsOfText } from './run-at-once.js';
export type { SignalListener, Signals } from './signals/signals.js';
export * from './statement-of-rows.js';
export * from './transaction.js';
export type { UntypedDatabase } from './untyped-database.js';
