/** Maximum length of an organization's URL. Notifications include the full URL, because the phone compares it. */
export const maximumRealmUrlBytes = 500;

export type { AdminNames } from './admin-names.js';
export { type AccountSettings, readAccountSettings } from './settings/account-settings.js';
// Settings, the database and commands need the tables. This module imports none of the push code.
export { type ServerPushTables, serverPushMigrations } from './tables.js';
