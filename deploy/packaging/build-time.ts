import { execFileSync } from 'node:child_process';

/**
 * Timestamp of a build, in Unix seconds: SOURCE_DATE_EPOCH if set, otherwise the time of the last commit.
 * @throws Error if neither is available.
 */
export function buildTime(root: string, sourceDateEpoch: string | undefined): number {
  if (sourceDateEpoch !== undefined) {
    if (!/^\d{1,10}$/.test(sourceDateEpoch))
      throw new Error(
        `SOURCE_DATE_EPOCH must be a time in Unix seconds, but is ${JSON.stringify(sourceDateEpoch)}`,
      );
    return Number(sourceDateEpoch);
  }
  try {
    return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }));
  } catch (error) {
    throw new Error('the time of the build is unknown outside of a git checkout: set SOURCE_DATE_EPOCH', {
      cause: error,
    });
  }
}
