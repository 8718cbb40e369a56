export type { AdministrationOptions, CommandLine } from './command-line.js';
export { addDatabaseCommands } from './database-commands.js';
export {
  type CheckedDatabase,
  databaseStartCheck,
  readDatabaseState,
} from './database-start-check.js';
export { addQueueCommands } from './queue-commands.js';
export { type ExportOptions, exportDatabase } from './transfer/export-database.js';
export { type ImportOptions, importDatabase } from './transfer/import-database.js';
export type { TransferCounts } from './transfer/transfer-format.js';
