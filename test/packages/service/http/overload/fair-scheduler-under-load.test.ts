import { describe, expect, it } from 'vitest';
import { shareOf } from '../../../../support/share-of.js';
import { capacityPerMillisecond, SimulatedProcess } from './simulated-process.js';

const milliseconds = 8000;
const connections = 3000;

/** Returns the completed requests as a fraction of the capacity. */
function answeredPart(process: SimulatedProcess, availablePart: number): number {
  return process.answered / (capacityPerMillisecond * availablePart * milliseconds);
}

describe('the fair scheduler under overload', () => {
  it('refuses within milliseconds, and keeps most of the capacity', () => {
    const process = new SimulatedProcess({ part: 1 });
    process.run(milliseconds, { perMillisecond: 3 * capacityPerMillisecond, connections });
    expect(answeredPart(process, 1)).toBeGreaterThan(0.7);
    expect(shareOf(process.refusedAfter, 0.99)).toBeLessThan(10);
  });

  // At nine times the load, or with a tenth of a CPU, refusals alone take more time than is available.
  for (const [part, times, stall] of [
    [1, 9, 0],
    [0.5, 9, 0],
    [0.5, 3, 400],
    [0.2, 9, 0],
    [0.1, 3, 400],
  ] as const) {
    it(`keeps nearly a quarter of the capacity at ${times} times the load with ${part} of a CPU and stalls of ${stall} ms a second`, () => {
      const process = new SimulatedProcess({ part, stall });
      process.run(milliseconds, { perMillisecond: times * capacityPerMillisecond, connections });
      const isThere = 1000 / (1000 + stall);
      expect(answeredPart(process, part * isThere)).toBeGreaterThan(0.23);
    });
  }

  it('refuses nothing again once the load is below the capacity', () => {
    const process = new SimulatedProcess({ part: 0.5 });
    process.run(milliseconds, { perMillisecond: 3 * capacityPerMillisecond, connections });
    process.run(milliseconds, { perMillisecond: 0.3 * capacityPerMillisecond, connections });
    const before = process.refusedAfter.length;
    process.run(milliseconds, { perMillisecond: 0.3 * capacityPerMillisecond, connections });
    expect(process.refusedAfter).toHaveLength(before);
  });
});
