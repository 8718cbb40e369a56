import { BoundedQueue } from '@waxwing/service/http';

/** Bounded queue for password checks: each occupies a thread and 32 MiB, which other requests need too. */
export function createHashQueue(): BoundedQueue {
  return new BoundedQueue({
    maximumConcurrency: 2,
    maximumPending: 64,
    maximumPendingPerClient: 4,
    what: 'sign-in',
  });
}
