import { describe, expect, it } from 'vitest';
import { shareOf } from '../../../../support/share-of.js';
import { capacityPerMillisecond, SimulatedProcess } from './simulated-process.js';

const milliseconds = 8000;
const connections = 3000;

/** What is answered of what could be if nobody asked for more than that. */
function answeredPart(process: SimulatedProcess, availablePart: number): number {
  return process.answered / (capacityPerMillisecond * availablePart * milliseconds);
}

describe('turns under more load than can be answered', () => {
  it('are refused within milliseconds where the process has time for that, and most of them given', () => {
    const process = new SimulatedProcess({ part: 1 });
    process.run(milliseconds, { perMillisecond: 3 * capacityPerMillisecond, connections });
    expect(answeredPart(process, 1)).toBeGreaterThan(0.7);
    expect(shareOf(process.refusedAfter, 0.99)).toBeLessThan(10);
  });

  // Of nine times the load, or a tenth of the machine, to refuse alone takes more time than there is.
  for (const [part, times, stall] of [
    [1, 9, 0],
    [0.5, 9, 0],
    [0.5, 3, 400],
    [0.2, 9, 0],
    [0.1, 3, 400],
  ] as const) {
    it(`are given nearly a quarter of the time at ${times} times the load with ${part} of a processor, away ${stall} ms a second`, () => {
      const process = new SimulatedProcess({ part, stall });
      process.run(milliseconds, { perMillisecond: times * capacityPerMillisecond, connections });
      const isThere = 1000 / (1000 + stall);
      expect(answeredPart(process, part * isThere)).toBeGreaterThan(0.23);
    });
  }

  it('are all given again once the load is what can be answered', () => {
    const process = new SimulatedProcess({ part: 0.5 });
    process.run(milliseconds, { perMillisecond: 3 * capacityPerMillisecond, connections });
    process.run(milliseconds, { perMillisecond: 0.3 * capacityPerMillisecond, connections });
    const before = process.refusedAfter.length;
    process.run(milliseconds, { perMillisecond: 0.3 * capacityPerMillisecond, connections });
    expect(process.refusedAfter).toHaveLength(before);
  });
});
