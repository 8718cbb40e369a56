import type { DatabaseWithJobs } from '@waxwing/jobs';
import { type ServerPushTables, serverPushMigrations } from '@waxwing/server-push/foundation';
import type { MigrationSet, WriteTransaction } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import { type AuthenticationTables, createAuthentication } from './authentication/authentication-tables.js';
import { type ChannelTables, createChannels } from './channels/channel-tables.js';
import {
  addClientCapabilities,
  addMessageOptions,
  addNewestAtStart,
  addQueueLifetimes,
  createEventQueues,
  type EventQueueTables,
  putEventsInOrder,
  shareEventTexts,
} from './event-queues/event-queue-tables.js';
import { addRoleGroups, rowsOfRoleGroups } from './groups/add-role-groups.js';
import { createGroups, type GroupTables } from './groups/group-tables.js';
import { createInvitations, type InvitationTables } from './invitations/invitation-tables.js';
import { createLinkifiers, type LinkifierTables } from './linkifiers/linkifier-tables.js';
import {
  addEditDiffs,
  createMessages,
  findCopiesByUser,
  findNotifiedCopies,
  type MessageTables,
} from './messages/message-tables.js';
import { createSearch } from './messages/search/search-tables.js';
import { createPermissions, type PermissionTables } from './permissions/permission-tables.js';
import { createPlaygrounds, type PlaygroundTables } from './playgrounds/playground-tables.js';
import { createProfileFields, type ProfileFieldTables } from './profile-fields/profile-field-tables.js';
import { createRealm, createRealmSettings, type RealmTables } from './realm/realm-tables.js';
import { addAvatars, createUploads, type UploadTables } from './uploads/upload-tables.js';
import { createUserSettings, type UserSettingTables } from './user-settings/user-setting-tables.js';
import { addSystemBots, addUserDetails, createUsers, type UserTables } from './users/user-tables.js';

/** All tables of the server, including those of push. Times are Unix milliseconds. */
export interface ServerTables
  extends RealmTables,
    UserTables,
    AuthenticationTables,
    UserSettingTables,
    GroupTables,
    PermissionTables,
    PlaygroundTables,
    LinkifierTables,
    ProfileFieldTables,
    ChannelTables,
    MessageTables,
    UploadTables,
    InvitationTables,
    EventQueueTables,
    ServerPushTables {}

export type ServerDatabase = DatabaseWithJobs<ServerTables>;
export type ServerTransaction = WriteTransaction<ServerTables>;

/** All folders share one list of migrations. Databases record them by these names. */
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
        // Migrations get an untyped database.
        await addRoleGroups(db as Transaction<ServerTables>);
      },
    },
    '0004-playgrounds': { up: createPlaygrounds },
    '0005-user-details': { up: addUserDetails },
    '0006-profile-fields': { up: createProfileFields },
    '0007-channels-and-messages': {
      async up(db) {
        await addSystemBots(db);
        await createChannels(db);
        await createMessages(db);
        await createUploads(db);
        await addMessageOptions(db);
        await putEventsInOrder(db);
      },
    },
    '0008-search': { up: createSearch },
    '0009-sign-in-and-user-settings': {
      async up(db) {
        await createAuthentication(db);
        await createUserSettings(db);
      },
    },
    '0010-invitations': { up: createInvitations },
    '0011-copies-by-user': { up: findCopiesByUser },
    '0012-queue-lifetimes': { up: addQueueLifetimes },
    '0013-notified-copies': { up: findNotifiedCopies },
    '0014-avatars': { up: addAvatars },
    '0015-linkifiers': { up: createLinkifiers },
    '0016-queues-at-start': { up: addNewestAtStart },
    '0017-edit-diffs': { up: addEditDiffs },
  },
};

/** All migrations of the server's database. */
export const serverMigrations: readonly MigrationSet[] = [serverPushMigrations, ownMigrations];
