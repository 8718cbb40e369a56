import { expect, it } from 'vitest';
import { vendorReadiness } from '#relay/deliveries/attempts/vendor-readiness.js';

const google = { credential: 'google', since: 1000, sentence: 'Google fails.' };
const apple = { credential: 'apple', since: 2000, sentence: 'Apple refuses the key.' };

/** Readiness, given these outages, refused credentials, and times when each credential last worked. */
function readiness(outages: object[], refused: object[], workedAt: Readonly<Record<string, number>> = {}) {
  return vendorReadiness({
    apps: { credentials: ['google', 'apple', 'apple'] },
    credentials: { troubles: () => refused as (typeof apple)[] },
    outages: {
      troubles: () => outages as (typeof google)[],
      hasWorkedSince: (credential, instant) => (workedAt[credential] ?? 0) > instant,
    },
  });
}

it('a relay is unready for its vendors only if no credential of its apps works', () => {
  expect(readiness([], [])).toBeUndefined();
  expect(readiness([google], [])).toEqual({ warning: 'Google fails.' });
  expect(readiness([], [apple])).toEqual({ warning: 'Apple refuses the key.' });
  expect(readiness([google], [apple])).toBe('Apple refuses the key.; Google fails.');
});

it('a credential that works for another of its apps has not failed', () => {
  const both = { warning: 'Apple refuses the key.; Google fails.' };
  expect(readiness([google], [apple], { apple: 2001 })).toEqual(both);
  expect(readiness([google], [apple], { google: 1001 })).toEqual(both);
  expect(readiness([google], [apple], { google: 1000, apple: 2000 })).not.toEqual(both);
});
