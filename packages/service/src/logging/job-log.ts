import type { Log } from './create-logger.js';
import { TroubleLog } from './trouble-log.js';

/** Listener for a database's jobs and other background work. */
interface JobLog {
  /** `job.kind` is `none` if the error is not about a particular job. */
  onJobError(error: unknown, job: { readonly id: string; readonly kind: string }): void;
  /** Called when the database is reachable. */
  onAnswer(): void;
}

/** Logs job errors. Logs an outage of the database once when it starts, and once when it ends. */
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
        log.error({ err }, `the database is unavailable, and jobs and signals wait for it: ${message}`);
      });
    },
    onAnswer() {
      troubleLog.end(() => log.info('the database answers again'));
    },
  };
}
