import type { Kysely } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { type CountedResult, countResults } from './describe-results.js';
import type { DeviceResult } from './device-results.js';

/** The command that requested a report has read it long before. */
const retentionMilliseconds = 60 * 60_000;

/** Adds what the relay said of devices to a report, in the transaction that settles the notification. */
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

/** Reads what a report holds so far. */
export async function readReport(db: Kysely<ServerPushTables>, reportId: string): Promise<CountedResult[]> {
  const rows = await db
    .selectFrom('delivery_reports')
    .select(['status', 'reason', 'fault', 'app', 'devices'])
    .where('report_id', '=', reportId)
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

/** Deletes up to `limit` rows of old reports. Returns how many it deleted. */
export async function deleteOldReports({ db }: PushTransaction, now: number, limit: number): Promise<number> {
  const old = db
    .selectFrom('delivery_reports')
    .select('id')
    .where('reported_at', '<', now - retentionMilliseconds)
    .limit(limit);
  const deleted = await db.deleteFrom('delivery_reports').where('id', 'in', old).returning('id').execute();
  return deleted.length;
}
