import { createJobLog } from '@waxwing/service/logging';
import { DatabaseUnavailableError } from '@waxwing/storage';
import { expect, it } from 'vitest';
import { createMemoryLog } from '../../../support/memory-log.js';

it('each failed job is logged, and each outage of the database once', () => {
  const { log, lines } = createMemoryLog();
  const { onAnswer, onJobError } = createJobLog(log);
  const none = { id: 'none', kind: 'none' };
  const away = new DatabaseUnavailableError('Gone.');
  onAnswer();
  for (let round = 0; round < 2; round += 1) {
    onJobError(away, none);
    onJobError(away, none);
    onJobError(away, { id: '7', kind: 'k' });
    onJobError(new Error('odd'), none);
    onAnswer();
    onAnswer();
  }
  const once = [
    {
      msg: 'the database is unavailable, and jobs and signals wait for it: Gone.',
      err: { message: 'Gone.' },
    },
    { msg: 'a job failed unexpectedly', job: '7', kind: 'k', err: { message: 'Gone.' } },
    { msg: 'work in the background failed unexpectedly', err: { message: 'odd' } },
    { msg: 'the database answers again' },
  ];
  expect(lines()).toMatchObject([...once, ...once]);
});
