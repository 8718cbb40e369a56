import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { ServerPushTables } from '../tables.js';
import { type RealmPushStatusRecord, readRealmPushStatus } from './realm-push-status.js';
import type { RelayLink } from './relay-link.js';

export interface AskForPushStatusOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /** Returns `undefined` if the organization has no relay. */
  link(): Pick<RelayLink, 'notify'> | undefined;
  readonly pushStatus: Pick<RealmPushStatusRecord, 'forget'>;
}

const everyMilliseconds = 5 * 60_000;

/**
 * Schedules a request for the relay's push status every five minutes while push is switched off. Otherwise no request
 * would be sent while push is off, so no response could report that push is on again. Call it before the jobs are
 * started.
 */
export function scheduleQuestionForPushStatus({ database, link, pushStatus }: AskForPushStatusOptions): void {
  database.jobs.schedule('realm-push-status/ask', everyMilliseconds, async (signal) => {
    if ((await readRealmPushStatus(database.db)).canPush) return;
    pushStatus.forget();
    await link()?.notify([], signal);
  });
}
