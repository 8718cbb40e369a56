import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { DayOfOperations } from './day-of-operations.js';

const steps = 200;
const recording = new URL('recorded-day.txt', import.meta.url).pathname;

eachBackend((backend) => {
  it('random operations publish the recorded events to the recorded queues', async () => {
    const day = await DayOfOperations.start(20_260_311, await backend.freshUrl());
    try {
      for (let step = 0; step < steps; step++) await day.step();
      await expect(`${day.lines.join('\n')}\n`).toMatchFileSnapshot(recording);
    } finally {
      await day.close();
    }
  }, 300_000);
});
