import { expect, it } from 'vitest';
import { vendorReadiness } from '#relay/deliveries/attempts/vendor-readiness.js';

const google = { credential: 'google', since: 1000, sentence: 'Google fails.' };
const apple = { credential: 'apple', since: 2000, sentence: 'Apple refuses the key.' };

/** Returns the readiness for outages, refused credentials, and the times when credentials last worked. */
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

it('a relay is not ready only if none of its credentials works', () => {
  expect(readiness([], [])).toBeUndefined();
  expect(readiness([google], [])).toEqual({ warning: 'Google fails.' });
  expect(readiness([], [apple])).toEqual({ warning: 'Apple refuses the key.' });
  expect(readiness([google], [apple])).toBe('Apple refuses the key.; Google fails.');
});

it('a credential does not count as failed if it works for another app', () => {
  const both = { warning: 'Apple refuses the key.; Google fails.' };
  expect(readiness([google], [apple], { apple: 2001 })).toEqual(both);
  expect(readiness([google], [apple], { google: 1001 })).toEqual(both);
  expect(readiness([google], [apple], { google: 1000, apple: 2000 })).not.toEqual(both);
});
