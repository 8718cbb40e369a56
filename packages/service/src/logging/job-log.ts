import { CauseLog } from './cause-log.js';
import type { Log } from './create-logger.js';
import { TroubleLog } from './trouble-log.js';

interface LoggedJob {
  readonly id: string;
  readonly kind: string;
}

/** Listeners for a database's jobs and other background work. */
interface JobLog {
  /** Called with an unexpected error. `job.kind` is `none` if the error does not concern a particular job. */
  onJobError(error: unknown, job: LoggedJob): void;
  /** Called when a job has been given up and has become a dead letter, with the reason. */
  onJobGivenUp(job: LoggedJob, reason: string): void;
  /** Called when the database is reachable. */
  onAnswer(): void;
  /** Logs all counts that have not been logged yet. */
  flush(): void;
}

/** Jobs of one kind that failed with the same message. */
interface Failed {
  readonly kind: string;
  readonly reason: string;
}

/** Jobs that were given up for the same reason. */
interface GivenUp {
  readonly kind: string;
  readonly reason: string;
  readonly remedy: string;
}

/**
 * Logs unexpected job errors, and jobs that were given up: one line per minute, kind and reason. Logs a database outage
 * once when it starts and once when it ends. `program` is the program whose `queue` command manages the jobs.
 */
export function createJobLog(log: Log, program: string): JobLog {
  const troubleLog = new TroubleLog();
  const remedy = `Run "${program} queue list --state dead", fix the cause, then "queue retry" or "queue drop" the job.`;
  const givenUp = new CauseLog<GivenUp>({
    log,
    words: { first: 'a job was given up', more: 'more jobs were given up' },
    levelOf: () => 'error',
    other: (cause) => ({ ...cause, reason: 'other' }),
  });
  const failed = new CauseLog<Failed>({
    log,
    words: { first: 'a job failed unexpectedly', more: 'more jobs failed unexpectedly' },
    levelOf: () => 'error',
    other: (cause) => ({ ...cause, reason: 'other' }),
  });
  const failedInBackground = new CauseLog<Pick<Failed, 'reason'>>({
    log,
    words: {
      first: 'background work failed unexpectedly',
      more: 'more background work failed unexpectedly',
    },
    levelOf: () => 'error',
    other: () => ({ reason: 'other' }),
  });
  return {
    onJobError(err, { id, kind }) {
      const { code, message } = err as NodeJS.ErrnoException;
      if (code !== 'DATABASE_UNAVAILABLE') {
        if (kind === 'none') failedInBackground.note({ reason: message }, { err });
        else failed.note({ kind: kindGroup(kind), reason: message }, { err, job: id, kind });
        return;
      }
      troubleLog.begin('away', () => {
        log.error({ err }, `the database is unavailable, and jobs and signals wait for it: ${message}`);
      });
    },
    onJobGivenUp({ id, kind }, reason) {
      givenUp.note({ kind: kindGroup(kind), reason, remedy }, { job: id, kind });
    },
    onAnswer() {
      troubleLog.end(() => log.info('the database answers again'));
    },
    flush() {
      for (const each of [givenUp, failed, failedInBackground]) each.flush();
    },
  };
}

/**
 * Returns the group that a job's errors are counted in. All scheduled work forms one group: a process that was stopped
 * for a long time gives up all scheduled jobs at once.
 */
function kindGroup(kind: string): string {
  return kind.startsWith('schedule/') ? 'schedule/*' : kind;
}
