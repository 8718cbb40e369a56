import { describe, expect, it } from 'vitest';
import type { BenchResult } from './bench-result.js';
import { compareRuns } from './beside.js';

const result = (name: string, value: number, against: number): BenchResult => ({
  name,
  value,
  against,
  ratio: value / against,
  unit: 'jobs/s',
  goal: 0.5,
  better: 'higher',
});

describe('two checkouts that are measured alternately', () => {
  it('are compared run by run, so that a machine that slows down affects both checkouts equally', () => {
    const here = [[result('jobs', 110, 100)], [result('jobs', 55, 50)], [result('jobs', 30, 10)]];
    const there = [[result('jobs', 100, 100)], [result('jobs', 50, 50)], [result('jobs', 10, 10)]];
    const [jobs] = compareRuns(here, there);
    expect(jobs).toMatchObject({ name: 'jobs', unit: 'jobs/s', better: 'higher', here: 55, there: 50 });
    expect(jobs?.quotient).toBeCloseTo(1.1);
    expect(jobs?.quotientOfRatios).toBeCloseTo(1.1);
  });

  it('are also compared by the ratios to their peers in the same run', () => {
    const [jobs] = compareRuns([[result('jobs', 100, 100)]], [[result('jobs', 50, 40)]]);
    expect([jobs?.quotient, jobs?.quotientOfRatios]).toEqual([2, 0.8]);
  });

  it('are compared only in benchmarks that both checkouts ran in every round', () => {
    const both = result('both', 1, 1);
    const here = [
      [both, result('new', 1, 1), result('once', 1, 1)],
      [both, result('new', 1, 1)],
    ];
    const there = [
      [result('old', 1, 1), both],
      [both, result('once', 1, 1)],
    ];
    expect(compareRuns(here, there).map(({ name }) => name)).toEqual(['both']);
  });
});
