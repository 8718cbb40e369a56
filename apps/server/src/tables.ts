import type { DatabaseWithJobs } from '@waxwing/jobs';
import { type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import type { MigrationSet, WriteTransaction } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import {
  addClientCapabilities,
  createEventQueues,
  type EventQueueTables,
  shareEventTexts,
} from './event-queues/event-queue-tables.js';
import { addRoleGroups, rowsOfRoleGroups } from './groups/add-role-groups.js';
import { createGroups, type GroupTables } from './groups/group-tables.js';
import { createPermissions, type PermissionTables } from './permissions/permission-tables.js';
import { createPlaygrounds, type PlaygroundTables } from './playgrounds/playground-tables.js';
import { createProfileFields, type ProfileFieldTables } from './profile-fields/profile-field-tables.js';
import { createRealm, createRealmSettings, type RealmTables } from './realm/realm-tables.js';
import { addUserDetails, createUsers, type UserTables } from './users/user-tables.js';

/** The tables of all folders, and those of the server's half of push. Instants in Unix milliseconds. */
export interface ServerTables
  extends RealmTables,
    UserTables,
    GroupTables,
    PermissionTables,
    PlaygroundTables,
    ProfileFieldTables,
    EventQueueTables,
    ServerPushTables {}

export type ServerDatabase = DatabaseWithJobs<ServerTables>;
export type ServerTransaction = WriteTransaction<ServerTables>;

/** The folders share one list of steps: databases remember them under these names. */
const ownMigrations: MigrationSet = {
  unit: 'server',
  rowsOfNewDatabase: rowsOfRoleGroups,
  migrations: {
    '0001-realm-users-event-queues': {
      async up(db) {
        await createRealm(db);
        await createUsers(db);
        await createEventQueues(db);
      },
    },
    '0002-event-texts': { up: shareEventTexts },
    '0003-groups-and-settings': {
      async up(db) {
        await createGroups(db);
        await createPermissions(db);
        await createRealmSettings(db);
        await addClientCapabilities(db);
        // A migration is given a database of which its types know nothing.
        await addRoleGroups(db as Transaction<ServerTables>);
      },
    },
    '0004-playgrounds': { up: createPlaygrounds },
    '0005-user-details': { up: addUserDetails },
    '0006-profile-fields': { up: createProfileFields },
  },
};

/** What the server's database must have. */
export const serverMigrations: readonly MigrationSet[] = [serverPushMigrations, ownMigrations];
