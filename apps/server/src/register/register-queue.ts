import { BoundedQueue } from '@waxwing/service/http';

/**
 * A bounded queue for registrations of event queues. Each occupies a database connection while it reads. A process has
 * ten: three serve registrations and the others stay free for other work.
 */
export function createRegisterQueue(): BoundedQueue {
  return new BoundedQueue({
    maximumConcurrency: 3,
    maximumPending: 1000,
    maximumPendingPerClient: 20,
    what: 'event queue',
  });
}
