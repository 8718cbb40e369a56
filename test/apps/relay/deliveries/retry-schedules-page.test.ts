import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type RetrySchedule, retrySchedules } from '#relay/deliveries/policy/retry-schedules.js';
import { root } from '../../../architecture/source-files.js';

function duration(milliseconds: number): string {
  if (milliseconds >= 3_600_000) return `${milliseconds / 3_600_000} h`;
  return milliseconds >= 60_000 ? `${milliseconds / 60_000} min` : `${milliseconds / 1000} s`;
}

function rowOf(schedule: RetrySchedule): string[] {
  const { firstMilliseconds, thenMilliseconds, capMilliseconds, stopAfterMilliseconds, maximumTries } =
    schedule;
  return [
    `after ${duration(firstMilliseconds)}`,
    thenMilliseconds === undefined ? '' : `from ${duration(thenMilliseconds)} on`,
    duration(capMilliseconds),
    `after ${duration(stopAfterMilliseconds)}${maximumTries === undefined ? '' : `, or ${maximumTries} tries`}`,
  ];
}

it('docs/deliveries.md has every retry schedule, in the order of the code', () => {
  const page = readFileSync(join(root, 'docs/deliveries.md'), 'utf8');
  const table = page.slice(page.indexOf('| failure | first retry |')).split('\n\n', 1)[0] ?? '';
  const rows = table.split('\n').slice(2);
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim()),
  );
  expect(cells).toEqual(Object.values(retrySchedules).map(rowOf));
});
