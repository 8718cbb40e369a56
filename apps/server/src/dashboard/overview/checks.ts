import type { RealmPushStatus, RelayLinkStatus } from '@waxwing/server-push';
import type { ReadinessStates } from '@waxwing/service/http';
import { adminNames } from '../../push/admin-names.js';

/** Result of one check. */
export interface DashboardCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly cause?: string;
  readonly remedy?: string;
}

export interface CheckedFacts {
  readonly readiness: ReadinessStates;
  readonly hasRelay: boolean;
  readonly link: RelayLinkStatus;
  readonly pushStatus: RealmPushStatus;
  readonly deadJobs: number;
}

const remedies: Readonly<Record<string, string>> = {
  database: 'Look whether the database runs and has room, and at the log of the server.',
  files: 'Correct the file, or the setting that names it: the next start would fail.',
};

/** Returns all checks, failed ones first. Sends no request: the page "Push" asks the relay. */
export function describeChecks(facts: CheckedFacts): DashboardCheck[] {
  const checks = [
    ...Object.entries(facts.readiness).map(([name, state]) => describeReadiness(name, state)),
    checkRelay(facts),
    checkDeadJobs(facts),
  ];
  return [...checks.filter(({ ok }) => !ok), ...checks.filter(({ ok }) => ok)];
}

function describeReadiness(name: string, state: ReadinessStates[string]): DashboardCheck {
  if (state === undefined) return { name, ok: true };
  const remedy = remedies[name] ?? 'Look at the log of the server.';
  return wrong(name, typeof state === 'string' ? state : state.warning, remedy);
}

function checkRelay({ hasRelay, link, pushStatus }: CheckedFacts): DashboardCheck {
  const name = 'relay';
  if (!hasRelay) {
    const remedy = `Run ${adminNames.push} enable --relay URL to notify phones.`;
    return wrong(name, 'No relay is configured, so phones are not notified.', remedy);
  }
  if (link.state === 'failing') {
    const cause = `The relay does not answer as it should: ${link.lastError?.reason ?? 'no reason is known'}.`;
    return wrong(name, cause, 'Open "Push", which checks every part and says what to do.');
  }
  if (!pushStatus.canPush) {
    const cause = 'The relay has switched push off for this organization.';
    return wrong(name, cause, "Ask the relay's operator to switch it on.");
  }
  return { name, ok: true };
}

function checkDeadJobs({ deadJobs }: CheckedFacts): DashboardCheck {
  const name = 'jobs';
  if (deadJobs === 0) return { name, ok: true };
  const cause = `The server has given up ${deadJobs} ${deadJobs === 1 ? 'job' : 'jobs'}.`;
  return wrong(name, cause, 'Open "Jobs", read their reasons, end the cause, then retry them.');
}

function wrong(name: string, cause: string, remedy: string): DashboardCheck {
  return { name, ok: false, cause, remedy };
}
