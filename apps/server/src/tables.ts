import type { DatabaseWithJobs } from '@waxwing/jobs';
import { type ServerPushTables, serverPushMigrations } from '@waxwing/server-push/foundation';
import type { MigrationSet, WriteTransaction } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import {
  addLinkifierTemplates,
  createLinkifiers,
  type LinkifierTables,
} from './content/linkifiers/linkifier-tables.js';
import { createPlaygrounds, type PlaygroundTables } from './content/playgrounds/playground-tables.js';
import { addAvatars, createUploads, type UploadTables } from './content/uploads/upload-tables.js';
import {
  addPushDefault,
  type ChannelTables,
  createChannels,
  findSpecialChannels,
} from './conversations/channels/channel-tables.js';
import {
  addEditDiffs,
  createMessages,
  findCopiesByUser,
  findMentionsOfMessage,
  findNotifiedCopies,
  type MessageTables,
} from './conversations/messages/message-tables.js';
import { createSearch } from './conversations/messages/search/search-tables.js';
import { createInvitations, type InvitationTables } from './membership/invitations/invitation-tables.js';
import { addRoleGroups, rowsOfRoleGroups } from './people/groups/add-role-groups.js';
import { createGroups, type GroupTables } from './people/groups/group-tables.js';
import { createPermissions, type PermissionTables } from './people/permissions/permission-tables.js';
import {
  addMatchingFields,
  createProfileFields,
  type ProfileFieldTables,
} from './people/profile-fields/profile-field-tables.js';
import { createRealm, createRealmSettings, type RealmTables } from './people/realm/realm-tables.js';
import {
  createUserSettings,
  renameRecentView,
  type UserSettingTables,
} from './people/user-settings/user-setting-tables.js';
import {
  addNameKeys,
  addSystemBots,
  addUserDetails,
  addUsersVersion,
  createUsers,
  findBotsAndOwners,
  renewAddressKeys,
  type UserTables,
} from './people/users/user-tables.js';
import {
  type AuthenticationTables,
  createAuthentication,
} from './platform/authentication/authentication-tables.js';
import {
  addClientCapabilities,
  addMessageOptions,
  addNewestAtStart,
  addQueueLifetimes,
  createEventQueues,
  type EventQueueTables,
  putEventsInOrder,
  shareEventTexts,
} from './platform/event-queues/event-queue-tables.js';

/** All tables of the server, including the push tables. Times are Unix milliseconds. */
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

/** The migrations of all folders, in one list, because databases record migrations under these names. */
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
        // The cast is needed because migrations get an untyped database.
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
    '0018-address-keys': { up: renewAddressKeys },
    '0019-matching-fields': { up: addMatchingFields },
    '0020-linkifier-templates': { up: addLinkifierTemplates },
    '0021-channel-push-default': { up: addPushDefault },
    '0022-recent-view': { up: renameRecentView },
    '0023-bots-and-owners': { up: findBotsAndOwners },
    '0024-users-version': { up: addUsersVersion },
    '0025-name-keys': { up: addNameKeys },
    '0026-mentions-of-message': { up: findMentionsOfMessage },
    '0027-special-channels': { up: findSpecialChannels },
  },
};

/** All migrations of the server's database. */
export const serverMigrations: readonly MigrationSet[] = [serverPushMigrations, ownMigrations];
