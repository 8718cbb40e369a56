import { createJobLog } from '@waxwing/service/logging';
import { DatabaseUnavailableError } from '@waxwing/storage';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createMemoryLog } from '../../../support/memory-log.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('each outage of the database is logged once, even if it makes jobs fail', () => {
  const { log, lines } = createMemoryLog();
  const { onAnswer, onJobError } = createJobLog(log, 'waxwing-relay');
  const none = { id: 'none', kind: 'none' };
  const away = new DatabaseUnavailableError('Gone.');
  onAnswer();
  for (let round = 0; round < 2; round += 1) {
    onJobError(away, none);
    onJobError(away, none);
    onJobError(away, { id: '7', kind: 'k' });
    onAnswer();
    onAnswer();
  }
  const once = [
    {
      msg: 'the database is unavailable, and jobs and signals wait for it: Gone.',
      err: { message: 'Gone.' },
    },
    { msg: 'the database answers again' },
  ];
  expect(lines()).toMatchObject([...once, ...once]);
});

it('unexpected errors are logged once per job kind, message and minute', () => {
  const { log, lines } = createMemoryLog();
  const { onJobError } = createJobLog(log, 'waxwing-relay');
  for (let id = 1; id <= 1000; id += 1) {
    onJobError(new Error('odd'), { id: String(id), kind: 'deliver' });
    onJobError(new Error('odd'), { id: 'none', kind: 'none' });
  }
  const err = { message: 'odd', stack: expect.any(String) };
  expect(lines()).toMatchObject([
    { level: 'error', msg: 'a job failed unexpectedly', job: '1', kind: 'deliver', err },
    { level: 'error', msg: 'background work failed unexpectedly', err },
  ]);
  vi.advanceTimersByTime(60_000);
  expect(lines().slice(2)).toMatchObject([
    { level: 'error', msg: 'more jobs failed unexpectedly', kind: 'deliver', reason: 'odd', count: 999 },
    { level: 'error', msg: 'more background work failed unexpectedly', reason: 'odd', count: 999 },
  ]);
});

it('dead jobs are logged once per kind, reason and minute, with the remedy', () => {
  const { log, lines } = createMemoryLog();
  const { onJobGivenUp, flush } = createJobLog(log, 'waxwing-relay');
  const busy = 'given up: the relay is busy';
  for (let id = 1; id <= 1000; id += 1) onJobGivenUp({ id: String(id), kind: 'deliver' }, busy);
  onJobGivenUp({ id: '1001', kind: 'deliver' }, 'refused');
  const remedy =
    'Run "waxwing-relay queue list --state dead", fix the cause, then "queue retry" or "queue drop" the job.';
  const first = {
    level: 'error',
    msg: 'a job was given up',
    job: '1',
    kind: 'deliver',
    reason: busy,
    remedy,
  };
  expect(lines()).toMatchObject([first, { ...first, job: '1001', reason: 'refused' }]);
  vi.advanceTimersByTime(60_000);
  const more = { level: 'error', msg: 'more jobs were given up', kind: 'deliver', reason: busy, count: 999 };
  expect(lines().slice(2)).toMatchObject([{ ...more, remedy }]);
  onJobGivenUp({ id: '1002', kind: 'deliver' }, busy);
  flush();
  expect(lines().slice(3)).toMatchObject([{ msg: 'more jobs were given up', count: 1 }]);
});

it('scheduled work that is dead after a long pause is logged once', () => {
  const { log, lines } = createMemoryLog();
  const { onJobGivenUp, flush } = createJobLog(log, 'waxwing-relay');
  const reason = 'given up: it was never attempted';
  const kinds = Array.from({ length: 20 }, (_, index) => `schedule/work-${index}`);
  for (const [index, kind] of kinds.entries()) onJobGivenUp({ id: String(index), kind }, reason);
  expect(lines()).toMatchObject([{ kind: 'schedule/work-0', job: '0', reason }]);
  flush();
  expect(lines().slice(1)).toMatchObject([{ kind: 'schedule/*', reason, count: 19 }]);
});
