import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { AdminNames } from '../admin-names.js';
import { pushJobKinds } from '../push-job-kinds.js';
import type { ServerPushTables } from '../tables.js';
import { failed, type PushCheck, passed } from './push-check.js';

/** Maximum delay of a due job. If a job is overdue for longer, no process runs jobs, or too few processes do. */
const maximumDelayMilliseconds = 2 * 60_000;
const maximumListed = 1000;
const dayMilliseconds = 86_400_000;

/** Checks that the server's jobs for the relay run, and that no job was given up recently. */
export async function checkJobs(
  { jobs }: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  names: AdminNames,
  now: number,
): Promise<PushCheck[]> {
  const list = async (state: 'due' | 'waiting' | 'running' | 'dead') => {
    const listed = pushJobKinds.map((kind) => jobs.list({ kind, state, limit: maximumListed }));
    return (await Promise.all(listed)).flat();
  };
  // Not only push jobs: notifications start as message jobs, so a backlog of those also delays notifications.
  const due = await jobs.list({ state: 'due', limit: maximumListed });
  const ofPush = [...(await list('due')), ...(await list('waiting')), ...(await list('running'))];
  return [checkQueue({ due, ofPush }, names, now), checkDead(await list('dead'), names, now)];
}

type Listed = Awaited<ReturnType<DatabaseWithJobs<ServerPushTables>['jobs']['list']>>;

function checkQueue(
  { due, ofPush }: { readonly due: Listed; readonly ofPush: Listed },
  { program }: AdminNames,
  now: number,
): PushCheck {
  const count = (many: number, verb: string) => `${many} ${many === 1 ? `job ${verb}s` : `jobs ${verb}`}`;
  // Registrations are dated in the past for fairness, so the age of their jobs counts from creation.
  const oldest = Math.min(...due.map(({ at, createdAt }) => Math.max(at, createdAt)));
  if (now - oldest > maximumDelayMilliseconds) {
    return failed(
      'jobs',
      `${count(due.length, 'wait')}, and the oldest has been due since ${new Date(oldest).toISOString()}: no server process works on them.`,
      `Start the server, or look at its log; ${program} queue list shows the jobs.`,
    );
  }
  const reason = ofPush.find((job) => job.reason !== undefined)?.reason;
  if (reason === undefined) return passed('jobs', `${count(ofPush.length, 'wait')} for the relay.`);
  const remedy = 'The server retries automatically; fix the cause that this or another check reports.';
  return failed('jobs', `${count(ofPush.length, 'wait')} for the relay, since ${reason}.`, remedy);
}

/** Fails only for jobs that were given up within the last day, because given-up jobs stay listed for 14 days. */
function checkDead(dead: Listed, { program }: AdminNames, now: number): PushCheck {
  const newest = dead.toSorted((one, other) => other.at - one.at)[0];
  if (newest === undefined) return passed('given-up jobs', 'No job was given up.');
  const at = new Date(newest.at).toISOString();
  const cause = `${dead.length} ${dead.length === 1 ? 'job was' : 'jobs were'} given up, the last at ${at}: ${newest.reason ?? 'it expired'}.`;
  if (now - newest.at > dayMilliseconds) return passed('given-up jobs', cause);
  return failed(
    'given-up jobs',
    cause,
    `Correct the cause, then retry or drop them: ${program} queue list --state dead.`,
  );
}
