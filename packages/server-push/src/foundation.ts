/** Maximum length of an organization's URL, in bytes. Notifications include the whole URL, because the phone compares it. */
export const maximumRealmUrlBytes = 500;

export type { AdminNames } from './admin-names.js';
export { type AccountSettings, readAccountSettings } from './settings/account-settings.js';
// Loads no other push code, because settings, the database and commands need only the tables.
export { type ServerPushTables, serverPushMigrations } from './tables.js';
