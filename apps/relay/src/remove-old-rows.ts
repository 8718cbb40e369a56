import type { Clock } from '@waxwing/service/lifecycle';
import type { Metrics } from '@waxwing/service/metrics';
import { type AnyTransaction, removeInBatches } from '@waxwing/storage';
import { forgetPresentedRegistrations } from './registrations/presented-registrations.js';
import { forgetRegistrationSequences } from './registrations/registration-sequences.js';
import { deleteLongExpired } from './registrations/relay-device-store.js';
import type { RelayDatabase } from './relay-tables.js';
import { forgetFullQuotas } from './servers/used-quota-store.js';

export interface RemoveOldRowsOptions {
  readonly database: RelayDatabase;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly keyRing: { forgetOldUses(transaction: AnyTransaction): Promise<number> };
}

const hourMilliseconds = 60 * 60_000;
/** Until then a registration gives an expired device back its id. */
export const expiredRetentionMilliseconds = 30 * 24 * hourMilliseconds;

/** Phones register every 30 days; one that was silent for so long and comes back begins with any sequence. */
export const sequenceRetentionMilliseconds = 400 * 24 * hourMilliseconds;

/** Has the database's jobs remove what nobody needs any more. Call it before they are started. */
export function scheduleRemovalOfOldRows({ database, clock, metrics, keyRing }: RemoveOldRowsOptions): void {
  const { jobs } = database;
  jobs.schedule('registrations/forget-presented', hourMilliseconds, async (signal) => {
    const forgotten = await forgetPresentedRegistrations(database, clock(), signal);
    metrics.rowsRemoved.inc({ kind: 'presented-registration' }, forgotten);
  });
  jobs.schedule('registrations/remove-expired', hourMilliseconds, async (signal) => {
    const before = clock() - expiredRetentionMilliseconds;
    const removeSome = (limit: number) => database.write(({ db }) => deleteLongExpired(db, before, limit));
    metrics.rowsRemoved.inc({ kind: 'expired-relay-device' }, await removeInBatches(removeSome, signal));
  });
  jobs.schedule('registrations/forget-sequences', 24 * hourMilliseconds, async (signal) => {
    const before = clock() - sequenceRetentionMilliseconds;
    const forgetSome = (limit: number) =>
      database.write(({ db }) => forgetRegistrationSequences(db, before, limit));
    metrics.rowsRemoved.inc({ kind: 'registration-sequence' }, await removeInBatches(forgetSome, signal));
  });
  jobs.schedule('servers/forget-full-quotas', hourMilliseconds, async (signal) => {
    const forgotten = await forgetFullQuotas(database, clock(), signal);
    metrics.rowsRemoved.inc({ kind: 'full-server-quota' }, forgotten);
  });
  jobs.schedule('keyring/forget-old-uses', 24 * hourMilliseconds, async () => {
    const forgotten = await database.write((transaction) => keyRing.forgetOldUses(transaction));
    metrics.rowsRemoved.inc({ kind: 'bouncer-key-use' }, forgotten);
  });
}
