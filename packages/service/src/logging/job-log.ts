import type { Log } from './create-logger.js';
import { TroubleLog } from './trouble-log.js';

/** What a database tells of its jobs and of its other work in the background. */
interface JobLog {
  /** `job` has the kind `none` where the trouble is with no job in particular. */
  onJobError(error: unknown, job: { readonly id: string; readonly kind: string }): void;
  /** The database has answered. */
  onAnswer(): void;
}

/** Writes it into the log; that the database is away once, however often it is asked, and once that it is back. */
export function createJobLog(log: Log): JobLog {
  const troubleLog = new TroubleLog();
  return {
    onJobError(err, { id, kind }) {
      if (kind !== 'none') {
        log.error({ err, job: id, kind }, 'a job failed unexpectedly');
        return;
      }
      const { code, message } = err as NodeJS.ErrnoException;
      if (code !== 'DATABASE_UNAVAILABLE') {
        log.error({ err }, 'work in the background failed unexpectedly');
        return;
      }
      troubleLog.begin('away', () => {
        log.error({ err }, `the database is away, and jobs and signals wait for it: ${message}`);
      });
    },
    onAnswer() {
      troubleLog.end(() => log.info('the database answers again'));
    },
  };
}
