import { BoundedLine } from '@waxwing/service/http';

/**
 * The line in which passwords wait to be checked: each takes a thread and much memory, of which the process has other
 * use.
 */
export function newHashLine(): BoundedLine {
  return new BoundedLine({
    maximumAtOnce: 2,
    maximumWaiting: 64,
    maximumWaitingPerSender: 4,
    what: 'sign-in',
  });
}
