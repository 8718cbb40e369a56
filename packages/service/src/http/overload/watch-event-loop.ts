import { performance } from 'node:perf_hooks';

const windowMilliseconds = 200;
const busyUtilization = 0.9;

/**
 * Returns a function that reports whether the event loop is saturated (utilization above 90 %). The function measures
 * at most every 200 ms, over the time since its last measurement. A burst after a quiet period is therefore reported
 * 200 ms late.
 */
export function watchEventLoop(): () => boolean {
  let since = performance.eventLoopUtilization();
  let startedAt = performance.now();
  let isBusy = false;
  return () => {
    const now = performance.now();
    if (now - startedAt < windowMilliseconds) return isBusy;
    isBusy = performance.eventLoopUtilization(since).utilization > busyUtilization;
    since = performance.eventLoopUtilization();
    startedAt = now;
    return isBusy;
  };
}
