import { BoundedQueue } from '@waxwing/service/http';

/**
 * Creates the bounded queue of password checks. Each check occupies a thread and 32 MiB of memory, which other requests
 * need too.
 */
export function createHashQueue(): BoundedQueue {
  return new BoundedQueue({
    maximumConcurrency: 2,
    maximumPending: 64,
    maximumPendingPerClient: 4,
    what: 'sign-in',
  });
}
