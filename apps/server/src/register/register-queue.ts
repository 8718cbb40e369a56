import { BoundedQueue } from '@waxwing/service/http';

/**
 * A bounded queue for event queue registrations. Each occupies a database connection while it reads. Of a process's ten
 * connections, three serve registrations; the others stay free for other work.
 */
export function createRegisterQueue(): BoundedQueue {
  return new BoundedQueue({
    maximumConcurrency: 3,
    maximumPending: 1000,
    maximumPendingPerClient: 20,
    what: 'event queue',
  });
}
