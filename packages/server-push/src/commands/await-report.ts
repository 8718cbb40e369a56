import { setTimeout as after } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { readReport } from '../notifications/delivery-reports.js';
import type { CountedResult } from '../notifications/describe-results.js';
import type { ServerPushTables } from '../tables.js';

const pollMilliseconds = 100;

/** A notification whose delivery report a command waits for. */
interface AwaitedReport {
  readonly reportId: string;
  readonly devices: number;
  readonly timeoutMilliseconds: number;
}

/**
 * Waits until the running server has stored a final result for each device (`queued` is not final), or until the
 * timeout. Returns the results so far.
 */
export async function awaitReport(
  { db }: { readonly db: Kysely<ServerPushTables> },
  { reportId, devices, timeoutMilliseconds }: AwaitedReport,
): Promise<CountedResult[]> {
  const until = performance.now() + timeoutMilliseconds;
  for (;;) {
    const results = await readReport(db, reportId);
    const final = results.filter(({ status }) => status !== 'queued');
    const reported = final.reduce((sum, result) => sum + result.devices, 0);
    if (reported >= devices || performance.now() >= until) return results;
    await after(pollMilliseconds);
  }
}
