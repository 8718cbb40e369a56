import { ConfigurationError } from '@waxwing/service/config';
import { Readiness, StartFileWatch } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createMemoryLog } from '../../../support/memory-log.js';

let now = 0;
const minute = 60_000;
/** Errors by file name. */
const errors = new Map<string, Error>();
let reads: string[];
const check = (name: string) => ({
  name,
  async check() {
    reads.push(name);
    const error = errors.get(name);
    if (error !== undefined) throw error;
    return undefined;
  },
});

beforeEach(() => {
  reads = [];
  errors.clear();
});
afterEach(() => void vi.useRealTimers());

function watchFiles() {
  const metrics = new Metrics();
  const [checks, reportedElsewhere] = [[check('apps'), check('authorities')], [check('key-ring')]];
  const watch = new StartFileWatch({ checks, reportedElsewhere, metrics, monotonic: () => now });
  const problems = async () =>
    [...(await metrics.text()).matchAll(/^waxwing_start_problem\{file="(.*)"\} (.*)$/gm)].map(
      ([, file, value]) => [file, Number(value)],
    );
  return { watch, problems };
}

const gone = new ConfigurationError(['The apps file does not exist: create it.']);

it('the watch reads the files at most once a minute, and not right after the start', async () => {
  const { watch } = watchFiles();
  await watch.look();
  now += minute - 1;
  await watch.look();
  expect(reads).toEqual([]);
  now += 1;
  await watch.look();
  await watch.look();
  expect(reads).toEqual(['apps', 'authorities', 'key-ring']);
});

it('readiness and the metric warn while the next start would fail', async () => {
  const { watch, problems } = watchFiles();
  expect(await problems()).toEqual([
    ['apps', 0],
    ['authorities', 0],
    ['key-ring', 0],
  ]);
  errors.set('apps', gone);
  now += minute;
  const warning = 'the next start would fail: The apps file does not exist: create it.';
  expect(await watch.look()).toEqual({ warning });
  expect(await problems()).toContainEqual(['apps', 1]);
  errors.set('authorities', gone);
  errors.set('key-ring', new ConfigurationError(['The ring is gone.']));
  now += minute;
  expect(await watch.look()).toEqual({ warning });
  expect(await problems()).toContainEqual(['key-ring', 1]);
  errors.clear();
  now += minute;
  expect(await watch.look()).toBeUndefined();
  expect((await problems()).map(([, value]) => value)).toEqual([0, 0, 0]);
});

it('the last result is kept while a file cannot be checked, such as during a database outage', async () => {
  const { watch } = watchFiles();
  errors.set('apps', new Error('the database does not answer'));
  now += minute;
  expect(await watch.look()).toBeUndefined();
  errors.set('apps', gone);
  now += minute;
  await watch.look();
  errors.set('apps', new Error('the database does not answer'));
  now += minute;
  expect(await watch.look()).toBeDefined();
});

it('readiness is checked every minute without a probe, and each change is logged once', async () => {
  vi.useFakeTimers();
  const logged = createMemoryLog();
  let problem: string | undefined;
  const readiness = new Readiness({ disk: async () => problem }, logged.log);
  const stop = readiness.watch();
  const lines = () => logged.lines().map(({ msg }) => msg);
  problem = 'the disk is full';
  await vi.advanceTimersByTimeAsync(3 * minute);
  expect(lines()).toEqual(['not ready: the disk is full']);
  problem = undefined;
  await vi.advanceTimersByTimeAsync(3 * minute);
  expect(lines()).toEqual(['not ready: the disk is full', 'ready again']);
  stop();
  problem = 'the disk is full';
  await vi.advanceTimersByTimeAsync(3 * minute);
  expect(lines()).toHaveLength(2);
});
