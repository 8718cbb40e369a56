import { removeInBatches } from '@waxwing/storage';
import { forgetOldActs } from './acts/act-store.js';
import type { RelayContext } from './context.js';
import { forgetOldMinutes } from './dashboard/minutes/minute-store.js';
import type { Deliveries } from './deliveries/create-deliveries.js';
import type { LiveKeyRing } from './keyring/live/live-key-ring.js';
import { forgetEndedKeys } from './registrations/store/ended-keys.js';
import { type ReencryptTokensOptions, reencryptTokens } from './registrations/store/reencrypt-tokens.js';
import { deleteLongExpired, deleteUnrenewed } from './registrations/store/relay-device-store.js';
import { forgetRevocations } from './registrations/store/revocations.js';
import type { UnreadableTokens } from './registrations/store/unreadable-tokens.js';
import { forgetPresentedRegistrations } from './registrations/write/presented-registrations.js';
import { forgetRegistrationSequences } from './registrations/write/registration-sequences.js';
import { forgetExpiredInvitations } from './servers/joining/invitations.js';
import { forgetOldActivity } from './servers/server-activity-store.js';
import { forgetFullQuotas } from './servers/used-quota-store.js';

export interface RelayJobsOptions extends Pick<RelayContext, 'database' | 'clock' | 'metrics'> {
  readonly keyRing: Pick<LiveKeyRing, 'forgetOldUses'> & ReencryptTokensOptions['keyRing'];
  readonly unreadableTokens: Pick<UnreadableTokens, 'note'>;
  readonly receipts: Pick<Deliveries['receipts'], 'forgetOld'>;
}

const minuteMilliseconds = 60_000;
const hourMilliseconds = 60 * minuteMilliseconds;
const dayMilliseconds = 24 * hourMilliseconds;

/** Retention of expired devices. A registration within this time revives the device under the same id. */
export const expiredRetentionMilliseconds = 30 * dayMilliseconds;

/** Time without a registration after which a device counts as unused. Phones register every 30 days. */
export const renewalDeadlineMilliseconds = 90 * dayMilliseconds;

/**
 * Retention of registration sequences. A phone that returns after this time may start at any sequence number. Phones
 * register every 30 days.
 */
export const sequenceRetentionMilliseconds = 400 * dayMilliseconds;

/** Schedules the relay's periodic jobs in its database. Call it before the jobs start. */
export function scheduleRelayJobs(options: RelayJobsOptions): void {
  const { database, clock, metrics, keyRing, receipts } = options;
  const { jobs } = database;
  const countRemoved = (kind: string, rows: number): void => metrics.rowsRemoved.inc({ kind }, rows);
  scheduleRegistrationJobs(options, countRemoved);
  jobs.schedule('servers/forget-full-quotas', hourMilliseconds, async (signal) =>
    countRemoved('full-server-quota', await forgetFullQuotas(database, clock(), signal)),
  );
  jobs.schedule('servers/forget-invitations', hourMilliseconds, async () =>
    countRemoved('server-invitation', await forgetExpiredInvitations(database, clock())),
  );
  jobs.schedule('servers/forget-activity', hourMilliseconds, async () =>
    countRemoved('server-activity', await forgetOldActivity(database, clock())),
  );
  jobs.schedule('acts/forget-old', hourMilliseconds, async () =>
    countRemoved('operator-act', await forgetOldActs(database)),
  );
  jobs.schedule('dashboard/forget-minutes', hourMilliseconds, async (signal) =>
    countRemoved('minute-count', await forgetOldMinutes(database, clock(), signal)),
  );
  jobs.schedule('keyring/forget-old-uses', dayMilliseconds, async () =>
    countRemoved(
      'bouncer-key-use',
      await database.write((transaction) => keyRing.forgetOldUses(transaction)),
    ),
  );
  jobs.schedule('delivery-receipts', 10 * minuteMilliseconds, async (signal) =>
    countRemoved('receipt', await receipts.forgetOld(clock(), signal)),
  );
}

function scheduleRegistrationJobs(
  { database, clock, keyRing, unreadableTokens }: RelayJobsOptions,
  countRemoved: (kind: string, rows: number) => void,
): void {
  const { jobs } = database;
  jobs.schedule('registrations/forget-presented', hourMilliseconds, async (signal) =>
    countRemoved('presented-registration', await forgetPresentedRegistrations(database, clock(), signal)),
  );
  jobs.schedule('registrations/remove-expired', hourMilliseconds, async (signal) => {
    const before = clock() - expiredRetentionMilliseconds;
    const removeSome = (limit: number) => database.write(({ db }) => deleteLongExpired(db, before, limit));
    countRemoved('expired-relay-device', await removeInBatches(removeSome, signal));
  });
  jobs.schedule('registrations/remove-unrenewed', 7 * dayMilliseconds, async (signal, { isContinued }) => {
    // After downtime or a clock jump, wait a week: phones could not register during the downtime, or the clock may be
    // wrong.
    if (!isContinued) return;
    const before = clock() - renewalDeadlineMilliseconds;
    countRemoved('unrenewed-relay-device', await deleteUnrenewed(database, before, signal));
  });
  jobs.schedule('registrations/forget-sequences', dayMilliseconds, async (signal) => {
    const before = clock() - sequenceRetentionMilliseconds;
    const forgetSome = (limit: number) =>
      database.write(({ db }) => forgetRegistrationSequences(db, before, limit));
    countRemoved('registration-sequence', await removeInBatches(forgetSome, signal));
  });
  jobs.schedule('registrations/forget-revocations', hourMilliseconds, async (signal) => {
    const forgetSome = (limit: number) => database.write(({ db }) => forgetRevocations(db, clock(), limit));
    countRemoved('revocation', await removeInBatches(forgetSome, signal));
  });
  jobs.schedule('registrations/forget-ended-keys', hourMilliseconds, async (signal) => {
    const forgetSome = (limit: number) => database.write(({ db }) => forgetEndedKeys(db, clock(), limit));
    countRemoved('ended-push-key', await removeInBatches(forgetSome, signal));
  });
  jobs.schedule('registrations/reencrypt-tokens', minuteMilliseconds, (signal) =>
    reencryptTokens({
      database,
      keyRing,
      signal,
      onUnreadable: (deviceId, token) => unreadableTokens.note(deviceId, token),
    }),
  );
}
