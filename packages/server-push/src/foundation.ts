/** Longest URL of an organisation: notifications name it whole, since the phone compares it. */
export const maximumRealmUrlBytes = 500;

// What settings and the database of a server need, which commands read too: it leads to nothing of what push does.
export { type ServerPushTables, serverPushMigrations } from './tables.js';
