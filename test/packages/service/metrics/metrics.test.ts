import { Metrics } from '@waxwing/service/metrics';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.useRealTimers();
});

it('jobs are counted at each scrape, and a failed count leaves the other metrics intact', async () => {
  const metrics = new Metrics();
  let answers = true;
  metrics.watchJobs(async () => {
    if (!answers) throw new Error('the database does not answer');
    return [{ kind: 'k', due: 1, waiting: 2, running: 3, dead: 4 }];
  });
  const samples = async () => (await metrics.text()).match(/^waxwing_jobs\{.*$/gm);
  expect(await samples()).toEqual([
    'waxwing_jobs{kind="k",state="due"} 1',
    'waxwing_jobs{kind="k",state="waiting"} 2',
    'waxwing_jobs{kind="k",state="running"} 3',
    'waxwing_jobs{kind="k",state="dead"} 4',
  ]);
  answers = false;
  expect(await samples()).toBeNull();
  expect(await metrics.text()).toContain('waxwing_http_request_seconds');
});

it('the load metrics add up all HTTP apps of a process', async () => {
  const metrics = new Metrics();
  const sides = [1, 20].map((connections) => ({ connections, requestsInFlight: 0, bodyBytesInFlight: 3 }));
  for (const side of sides) metrics.watchHttp(() => side);
  const text = await metrics.text();
  expect(text).toMatch(/^waxwing_http_connections 21$/m);
  expect(text).toMatch(/^waxwing_http_requests_in_flight 0$/m);
  expect(text).toMatch(/^waxwing_http_body_bytes_in_flight 6$/m);
});

it('a scrape waits at most three seconds for the count of jobs, which is single-flight', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const metrics = new Metrics();
  let begun = 0;
  let answer: () => void = () => undefined;
  metrics.watchJobs(() => {
    begun++;
    return new Promise((resolve) => {
      answer = () => resolve([{ kind: 'k', due: 1, waiting: 2, running: 3, dead: 4 }]);
    });
  });
  const texts = [metrics.text(), metrics.text()];
  await vi.advanceTimersByTimeAsync(3000);
  for (const text of await Promise.all(texts)) expect(text).not.toContain('waxwing_jobs{');
  const next = metrics.text();
  expect(begun).toBe(1);
  answer();
  expect(await next).toContain('waxwing_jobs{kind="k",state="due"} 1');
  expect(vi.getTimerCount()).toBe(0);
  const another = metrics.text();
  expect(begun).toBe(2);
  answer();
  await another;
});

it('the size of the write-ahead log is a metric, if the database has one', async () => {
  const metrics = new Metrics();
  metrics.watchDatabaseLog(() => 4096);
  expect(await metrics.text()).toMatch(/^waxwing_database_log_bytes 4096$/m);
  const withoutLog = new Metrics();
  withoutLog.watchDatabaseLog(() => undefined);
  expect(await withoutLog.text()).not.toContain('waxwing_database_log_bytes');
});
