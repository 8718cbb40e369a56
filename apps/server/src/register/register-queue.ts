import { BoundedQueue } from '@waxwing/service/http';

/**
 * Creates the bounded queue for event queue registrations. Each registration occupies a database connection while it
 * reads. At most three of a process's ten connections serve registrations.
 */
export function createRegisterQueue(): BoundedQueue {
  return new BoundedQueue({
    maximumConcurrency: 3,
    maximumPending: 1000,
    maximumPendingPerClient: 20,
    what: 'event queue',
  });
}
