import type { RealmPushStatus, RelayLinkStatus } from '@waxwing/server-push';
import { type DashboardCheck, failedCheck, failedFirst, readinessChecks } from '@waxwing/service/dashboard';
import type { ReadinessStates } from '@waxwing/service/http';
import { adminNames } from '../../push/admin-names.js';

export interface CheckedFacts {
  readonly readiness: ReadinessStates;
  readonly hasRelay: boolean;
  readonly link: RelayLinkStatus;
  readonly pushStatus: RealmPushStatus;
  readonly deadJobs: number;
}

const remedies: Readonly<Record<string, string>> = {
  database:
    "Check that the database is running and has disk space and free connections, end transactions that block others, and read the server's log.",
  files: 'Correct the file, or the setting that names it: the next start would fail.',
};

/** Returns all checks, failed ones first. Sends no request to the relay, unlike the "Push" page. */
export function describeChecks(facts: CheckedFacts): DashboardCheck[] {
  return failedFirst([
    ...readinessChecks(facts.readiness, remedies),
    checkRelay(facts),
    checkDeadJobs(facts),
  ]);
}

function checkRelay({ hasRelay, link, pushStatus }: CheckedFacts): DashboardCheck {
  const name = 'relay';
  if (!hasRelay) {
    const remedy = `Run ${adminNames.push} enable --relay URL to notify phones.`;
    return failedCheck(name, 'No relay is configured, so phones are not notified.', remedy);
  }
  if (link.state === 'failing') {
    const cause = `The last request to the relay failed: ${link.lastError?.reason ?? 'unknown reason'}.`;
    return failedCheck(name, cause, 'Open "Push": it checks every component and suggests a remedy.');
  }
  if (!pushStatus.canPush) {
    const cause = 'The relay has switched push off for this organization.';
    return failedCheck(name, cause, "Ask the relay's operator to switch it on.");
  }
  return { name, ok: true };
}

function checkDeadJobs({ deadJobs }: CheckedFacts): DashboardCheck {
  const name = 'jobs';
  if (deadJobs === 0) return { name, ok: true };
  const cause = `The server has given up on ${deadJobs} ${deadJobs === 1 ? 'job' : 'jobs'}.`;
  return failedCheck(name, cause, 'Open "Jobs", read the reasons, fix the cause, then retry the jobs.');
}
