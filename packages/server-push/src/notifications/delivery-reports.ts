import type { Kysely } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { type CountedResult, countResults } from './describe-results.js';
import type { DeviceResult } from './device-results.js';

/** How long a report is kept. The command that requested it reads it within this time. */
const retentionMilliseconds = 60 * 60_000;

/** Adds the relay's results for devices to a report, in the transaction that settles the notification. */
export async function addToReport(
  { db }: PushTransaction,
  reportId: string,
  results: readonly DeviceResult[],
  now: number,
): Promise<void> {
  const rows = countResults(results).map(({ status, reason, fault, app, devices }) => ({
    report_id: reportId,
    status,
    reason: reason ?? null,
    fault: fault ?? null,
    app: app ?? null,
    devices,
    reported_at: now,
  }));
  if (rows.length > 0) await db.insertInto('delivery_reports').values(rows).execute();
}

/** The final result for a device whose notification was queued. */
export interface SettledReport {
  readonly reportId: string;
  /** Why the notification was queued. */
  readonly reason: string | undefined;
  readonly result: DeviceResult;
  readonly now: number;
}

/** Replaces a device's `queued` result with the final result. */
export async function replaceQueued(
  transaction: PushTransaction,
  { reportId, reason, result, now }: SettledReport,
): Promise<void> {
  const queued = transaction.db
    .selectFrom('delivery_reports')
    .select('id')
    .where('report_id', '=', reportId)
    .where('status', '=', 'queued')
    .where('reason', reason === undefined ? 'is' : '=', reason ?? null)
    .where('devices', '>', 0)
    .limit(1);
  const { numUpdatedRows } = await transaction.db
    .updateTable('delivery_reports')
    .set(({ eb }) => ({ devices: eb('devices', '-', 1) }))
    .where('id', 'in', queued)
    .executeTakeFirstOrThrow();
  // Adds the result only if the report still exists: a report that was deleted in the meantime must not be recreated.
  if (numUpdatedRows === 1n) await addToReport(transaction, reportId, [result], now);
}

/** Reads the results that a report contains so far. */
export async function readReport(db: Kysely<ServerPushTables>, reportId: string): Promise<CountedResult[]> {
  const rows = await db
    .selectFrom('delivery_reports')
    .select(['status', 'reason', 'fault', 'app', 'devices'])
    .where('report_id', '=', reportId)
    .where('devices', '>', 0)
    .orderBy('id')
    .execute();
  return rows.map(({ status, reason, fault, app, devices }) => ({
    status,
    devices,
    reason: reason ?? undefined,
    fault: fault ?? undefined,
    app: app ?? undefined,
  }));
}

/** Deletes up to `limit` rows of old reports. Returns the number of deleted rows. */
export async function deleteOldReports({ db }: PushTransaction, now: number, limit: number): Promise<number> {
  const old = db
    .selectFrom('delivery_reports')
    .select('id')
    .where('reported_at', '<', now - retentionMilliseconds)
    .limit(limit);
  const deleted = await db.deleteFrom('delivery_reports').where('id', 'in', old).returning('id').execute();
  return deleted.length;
}
