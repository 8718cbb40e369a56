export * from './job-listing.js';
export * from './job-queue.js';
export { jobMigrations } from './job-tables.js';
export * from './open-database-with-jobs.js';
export { unstorableCharacters } from './unstorable-characters.js';
