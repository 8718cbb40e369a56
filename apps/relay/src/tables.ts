import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { MigrationSet, WriteTransaction } from '@waxwing/storage';
import { type ActTables, createOperatorActs } from './acts/act-table.js';
import { createMinuteCounts, type MinuteTables } from './dashboard/minutes/minute-table.js';
import { type DeliveryTables, deliveryMigrations } from './deliveries/delivery-tables.js';
import { type KeyRingTables, keyRingMigrations } from './keyring/storage/key-ring-tables.js';
import { createEndedKeys } from './registrations/store/ended-key-table.js';
import {
  addPresentedAccounts,
  addRegistrationDates,
  createPresentedRegistrations,
  createRegistrationSequences,
  createRelayDevices,
  createRevocations,
  indexExpiredDevices,
  type RegistrationTables,
} from './registrations/store/registration-tables.js';
import {
  addServerRegistrations,
  addServerSuspensions,
  createRealms,
  createServerActivity,
  createServerChallenges,
  createServerQuotas,
  createServers,
  type RelayServerTables,
} from './servers/server-tables.js';

/** All tables of the relay. Times in Unix milliseconds. */
export interface RelayTables
  extends RelayServerTables,
    RegistrationTables,
    KeyRingTables,
    DeliveryTables,
    MinuteTables,
    ActTables {}

export type RelayDatabase = DatabaseWithJobs<RelayTables>;
export type RelayTransaction = WriteTransaction<RelayTables>;

/** A single list for servers and registrations: existing databases have recorded these migrations under these names. */
const ownMigrations: MigrationSet = {
  unit: 'relay',
  migrations: {
    '0001-servers-realms-devices': {
      async up(db) {
        await createServers(db);
        await createRealms(db);
        await createRelayDevices(db);
      },
    },
    '0002-presented-registrations': { up: createPresentedRegistrations },
    '0003-expired-devices': { up: indexExpiredDevices },
    '0004-server-quotas': { up: createServerQuotas },
    '0005-presented-accounts': { up: addPresentedAccounts },
    '0006-registration-sequences': { up: createRegistrationSequences },
    '0007-server-registrations': { up: addServerRegistrations },
    '0008-server-challenges': { up: createServerChallenges },
    '0009-server-suspensions': { up: addServerSuspensions },
    '0010-server-activity': { up: createServerActivity },
    '0011-revocations': {
      async up(db) {
        await addRegistrationDates(db);
        await createRevocations(db);
      },
    },
    '0012-ended-keys': { up: createEndedKeys },
    '0013-minute-counts': { up: createMinuteCounts },
    '0014-operator-acts': { up: createOperatorActs },
  },
};

/** All migrations of the relay's database. */
export const relayMigrations: readonly MigrationSet[] = [
  ownMigrations,
  keyRingMigrations,
  deliveryMigrations,
];
