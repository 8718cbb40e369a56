import { type DashboardCheck, failedCheck, failedFirst, readinessChecks } from '@waxwing/service/dashboard';
import type { ReadinessStates } from '@waxwing/service/http';
import type { StoredBreaker } from '../../deliveries/breakers/breaker-store.js';
import { type LoadProblem, loadProblems } from '../../readiness/load-watch.js';

export interface CheckedFacts {
  readonly readiness: ReadinessStates;
  readonly breakers: readonly StoredBreaker[];
  readonly load: readonly LoadProblem[];
  readonly deadLetters: number;
  /** Why the clock is not trusted; `undefined` if it is trusted. */
  readonly clockProblem: string | undefined;
  /** Unix milliseconds. */
  readonly keyListExpiresAt: number;
  readonly isDeliveryConfigured: boolean;
  readonly now: number;
}

const dayMilliseconds = 86_400_000;
// The relay re-signs the list after half of its validity, which is at least a day: normally, at least half a day
// remains.
const expiryNoticeMilliseconds = dayMilliseconds / 4;
const remedies: Readonly<Record<string, string>> = {
  database:
    'Check that the database runs and has disk space and free connections, end transactions that block others, and read the log of the relay.',
  keys: 'Restore what is missing from your backup, then run "waxwing-relay keys verify".',
  files: 'Correct the file, or the setting that names it: the next start would fail.',
  vendors: 'Check the app with the button in its row: the result says what to do.',
};

/** Returns all checks, failed checks first. */
export function describeChecks(facts: CheckedFacts): DashboardCheck[] {
  // Omits `load`, because each load problem gets its own check.
  const { load: _, ...readiness } = facts.readiness;
  return failedFirst([
    ...readinessChecks(readiness, remedies),
    checkClock(facts),
    checkKeyList(facts),
    checkApps(facts),
    checkDeletions(facts),
    checkDeadLetters(facts),
    ...describeLoad(facts),
  ]);
}

function describeLoad({ load }: CheckedFacts): DashboardCheck[] {
  return loadProblems.flatMap((name): DashboardCheck[] => {
    const found = load.filter((problem) => problem.name === name);
    if (found.length === 0) return [{ name, ok: true }];
    return found.map(({ cause, remedy }) => failedCheck(name, cause, remedy));
  });
}

function checkClock({ clockProblem }: CheckedFacts): DashboardCheck {
  if (clockProblem === undefined) return { name: 'clock', ok: true };
  return failedCheck('clock', clockProblem, 'Correct the clock of this machine.');
}

function checkKeyList({ keyListExpiresAt, now }: CheckedFacts): DashboardCheck {
  const name = 'key list';
  if (keyListExpiresAt - now > expiryNoticeMilliseconds) return { name, ok: true };
  const when = new Date(keyListExpiresAt).toISOString();
  const remedy = 'The relay could not sign it again: read its log, and check that it can write the key ring.';
  return failedCheck(name, `The signed key list expires at ${when}. Phones then refuse it.`, remedy);
}

function checkApps({ isDeliveryConfigured }: CheckedFacts): DashboardCheck {
  if (isDeliveryConfigured) return { name: 'apps', ok: true };
  const cause = 'No app is configured: every notification is rejected.';
  return failedCheck('apps', cause, 'Set RELAY_APPS_FILE to the file with the credentials of your apps.');
}

function checkDeletions({ breakers }: CheckedFacts): DashboardCheck {
  const name = 'deletions';
  const frozen = breakers.filter(({ kind, confirmedAt }) => kind === 'deletion' && confirmedAt === undefined);
  if (frozen.length === 0) return { name, ok: true };
  const apps = [...new Set(frozen.map(({ app }) => app))].join(', ');
  const remedy =
    'Look for an app with a wrong project or team. If the tokens are really dead, confirm the deletions.';
  return failedCheck(name, `Unusually many tokens are dead: deletions are frozen for ${apps}.`, remedy);
}

function checkDeadLetters({ deadLetters }: CheckedFacts): DashboardCheck {
  const name = 'dead letters';
  if (deadLetters === 0) return { name, ok: true };
  const cause = `The relay has given up on ${deadLetters} ${deadLetters === 1 ? 'job' : 'jobs'}.`;
  return failedCheck(name, cause, 'Read the reasons, fix the cause, then retry the jobs.');
}
