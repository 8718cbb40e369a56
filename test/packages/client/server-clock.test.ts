import { createServerClock } from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';

describe('The server clock', () => {
  it('equals the device’s clock until a response has a date', () => {
    const clock = createServerClock(() => 1_000_000);
    clock.learn(null, 0, 0);
    clock.learn('not a date', 0, 0);
    expect(clock.now()).toBe(1_000_000);
  });

  it('differs from the server’s by at most half a second plus half the round trip', () => {
    const years = 20 * 365 * 86_400_000;
    fc.assert(
      fc.property(
        fc.integer({ min: -years, max: years }),
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 999 }),
        (error, there, back, part) => {
          const serverTime = Date.UTC(2026, 10, 20) + part;
          let device = serverTime + error - there;
          const clock = createServerClock(() => device);
          const sentAt = device;
          device += there + back;
          clock.learn(new Date(serverTime).toUTCString(), sentAt, device);
          const truth = serverTime + back;
          expect(Math.abs(clock.now() - truth)).toBeLessThanOrEqual(501 + Math.abs(there - back) / 2);
        },
      ),
    );
  });
});
