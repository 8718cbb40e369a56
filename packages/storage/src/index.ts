export * from './database-unusable-error.js';
export * from './file-lock.js';
export * from './jobs/job-queue.js';
export type { MigrationSet } from './migrate.js';
export * from './open-database.js';
export * from './portable-columns.js';
export * from './transaction.js';
