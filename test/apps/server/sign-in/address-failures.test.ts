import { describe, expect, it } from 'vitest';
import { AddressFailures, maximumAddressFailures } from '#server/membership/sign-in/address-failures.js';

const now = 1_800_000_000_000;
const halfHour = 30 * 60_000;

describe('failed sign-ins per address', () => {
  it('are limited per half hour, and successful sign-ins do not count', () => {
    const failures = new AddressFailures();
    expect(failures.take('a', now)).toBeUndefined();
    failures.giveBack('a');
    for (let count = 0; count < maximumAddressFailures; count++) {
      expect(failures.take('a', now + count)).toBeUndefined();
    }
    expect(failures.take('a', now + 60_000)).toBe(1740);
    expect(failures.take('b', now + 60_000)).toBeUndefined();
    expect(failures.take('a', now + halfHour)).toBeUndefined();
  });

  it('do not grow when a permit from the previous half hour is returned', () => {
    const failures = new AddressFailures();
    failures.take('a', now);
    failures.take('a', now + halfHour);
    failures.giveBack('a');
    failures.giveBack('a');
    for (let count = 0; count < maximumAddressFailures; count++) failures.take('a', now + halfHour);
    expect(failures.take('a', now + halfHour)).toBeDefined();
  });

  it('do not block sign-ins after the clock is set back', () => {
    const failures = new AddressFailures();
    for (let count = 0; count < maximumAddressFailures; count++) failures.take('a', now);
    expect(failures.take('a', now - 2 * halfHour)).toBeUndefined();
  });

  it('are counted for a bounded number of addresses', () => {
    const failures = new AddressFailures();
    for (let count = 0; count < maximumAddressFailures; count++) failures.take('first', now);
    expect(failures.take('first', now)).toBeDefined();
    for (let other = 0; other < 10_000; other++) failures.take(`other ${other}`, now);
    expect(failures.take('first', now)).toBeUndefined();
  });
});
