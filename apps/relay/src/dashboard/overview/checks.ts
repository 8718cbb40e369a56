import type { ReadinessStates } from '@waxwing/service/http';
import type { StoredBreaker } from '../../deliveries/breakers/breaker-store.js';
import { type LoadProblem, loadProblems } from '../../readiness/load-watch.js';

/** Result of one check. */
export interface DashboardCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly cause?: string;
  readonly remedy?: string;
}

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
// The relay re-signs the list after half of its lifetime, which is at least half a day.
const expiryNoticeMilliseconds = dayMilliseconds / 4;
const remedies: Readonly<Record<string, string>> = {
  database: 'Look whether the database runs and has room and free connections, and at the log of the relay.',
  keys: 'Restore what is missing from your backup, then look with "waxwing-relay keys verify".',
  files: 'Correct the file, or the setting that names it: the next start would fail.',
  vendors: 'Check the app with the button in its row: the answer says what to do.',
};

/** Returns all checks, failed ones first. */
export function describeChecks(facts: CheckedFacts): DashboardCheck[] {
  const checks = [
    ...Object.entries(facts.readiness)
      .filter(([name]) => name !== 'load')
      .map(([name, state]) => describeReadiness(name, state)),
    checkClock(facts),
    checkKeyList(facts),
    checkApps(facts),
    checkDeletions(facts),
    checkDeadLetters(facts),
    ...describeLoad(facts),
  ];
  return [...checks.filter(({ ok }) => !ok), ...checks.filter(({ ok }) => ok)];
}

function describeReadiness(name: string, state: ReadinessStates[string]): DashboardCheck {
  if (state === undefined) return { name, ok: true };
  const remedy = remedies[name] ?? 'Look at the log of the relay.';
  return wrong(name, typeof state === 'string' ? state : state.warning, remedy);
}

function describeLoad({ load }: CheckedFacts): DashboardCheck[] {
  return loadProblems.flatMap((name): DashboardCheck[] => {
    const found = load.filter((problem) => problem.name === name);
    if (found.length === 0) return [{ name, ok: true }];
    return found.map(({ cause, remedy }) => wrong(name, cause, remedy));
  });
}

function checkClock({ clockProblem }: CheckedFacts): DashboardCheck {
  if (clockProblem === undefined) return { name: 'clock', ok: true };
  return wrong('clock', clockProblem, 'Set the clock of this machine right.');
}

function checkKeyList({ keyListExpiresAt, now }: CheckedFacts): DashboardCheck {
  const name = 'key list';
  if (keyListExpiresAt - now > expiryNoticeMilliseconds) return { name, ok: true };
  const when = new Date(keyListExpiresAt).toISOString();
  const remedy = 'The relay could not sign it again: look at its log, and whether it can write the key ring.';
  return wrong(name, `The signed key list ends at ${when}. Phones then refuse it.`, remedy);
}

function checkApps({ isDeliveryConfigured }: CheckedFacts): DashboardCheck {
  if (isDeliveryConfigured) return { name: 'apps', ok: true };
  const cause = 'No app is configured: every notification is rejected.';
  return wrong('apps', cause, 'Set RELAY_APPS_FILE to the file with the credentials of your apps.');
}

function checkDeletions({ breakers }: CheckedFacts): DashboardCheck {
  const name = 'deletions';
  const frozen = breakers.filter(({ kind, confirmedAt }) => kind === 'deletion' && confirmedAt === undefined);
  if (frozen.length === 0) return { name, ok: true };
  const apps = [...new Set(frozen.map(({ app }) => app))].join(', ');
  const remedy =
    'Look for an app with a wrong project or team. If the tokens are really dead, thaw the deletions.';
  return wrong(name, `Unusually many tokens are dead: deletions are frozen for ${apps}.`, remedy);
}

function checkDeadLetters({ deadLetters }: CheckedFacts): DashboardCheck {
  const name = 'dead letters';
  if (deadLetters === 0) return { name, ok: true };
  const cause = `${deadLetters} jobs were given up.`;
  return wrong(name, cause, 'Read their reasons, end the cause, then retry them.');
}

function wrong(name: string, cause: string, remedy: string): DashboardCheck {
  return { name, ok: false, cause, remedy };
}
