import { performance } from 'node:perf_hooks';

const windowMilliseconds = 200;
const busyPart = 0.9;

/**
 * Tells whether the event loop of this process had hardly a moment without work since it was asked last, or in the fifth
 * of a second before that: what has just begun after a quiet time is told a fifth of a second late.
 */
export function watchProcess(): () => boolean {
  let since = performance.eventLoopUtilization();
  let startedAt = performance.now();
  let isBusy = false;
  return () => {
    const now = performance.now();
    if (now - startedAt < windowMilliseconds) return isBusy;
    isBusy = performance.eventLoopUtilization(since).utilization > busyPart;
    since = performance.eventLoopUtilization();
    startedAt = now;
    return isBusy;
  };
}
