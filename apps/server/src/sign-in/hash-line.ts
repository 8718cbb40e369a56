import { BoundedQueue } from '@waxwing/service/http';

/**
 * The line in which passwords wait to be checked: each takes a thread and much memory, of which the process has other
 * use.
 */
export function newHashLine(): BoundedQueue {
  return new BoundedQueue({
    maximumConcurrency: 2,
    maximumPending: 64,
    maximumPendingPerClient: 4,
    what: 'sign-in',
  });
}
