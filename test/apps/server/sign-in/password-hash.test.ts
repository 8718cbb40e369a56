import { Secret } from '@waxwing/service/config';
import { describe, expect, it } from 'vitest';
import {
  hashPassword,
  isPasswordLength,
  matchesPassword,
} from '#server/platform/authentication/password-hash.js';

const password = new Secret('correct horse battery');

/** The shortest CPU time of five runs, in microseconds, excluding other processes. */
async function shortest(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 5; count++) {
    const begun = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(begun);
    times.push(user + system);
  }
  return Math.min(...times);
}

describe('a stored password hash', () => {
  it('is different each time, and matches only its password', async () => {
    const [one, other] = [await hashPassword(password), await hashPassword(password)];
    expect(one).toMatch(/^scrypt\$15\$8\$1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/);
    expect(other).not.toBe(one);
    expect(await matchesPassword(password, one)).toBe(true);
    expect(await matchesPassword(new Secret('correct horse batterz'), one)).toBe(false);
    expect(await matchesPassword(new Secret(''), one)).toBe(false);
  });

  it('includes its cost, so that it still matches after the default cost rises', async () => {
    // `hashlib.scrypt(b"password", salt=b"NaCl", n=1024, r=8, p=16, dklen=32)`, from RFC 7914 section 12.
    const cheaper = 'scrypt$10$8$16$TmFDbA==$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI=';
    expect(await matchesPassword(new Secret('password'), cheaper)).toBe(true);
    expect(await matchesPassword(new Secret('passwore'), cheaper)).toBe(false);
  });

  it('takes as long to reject a password as a missing hash', async () => {
    const stored = await hashPassword(password);
    const wrong = new Secret('wrong horse battery');
    const [known, unknown] = [
      await shortest(() => matchesPassword(wrong, stored)),
      await shortest(() => matchesPassword(wrong, undefined)),
    ];
    expect(unknown / known).toBeGreaterThan(0.5);
    expect(unknown / known).toBeLessThan(2);
    expect(await matchesPassword(wrong, undefined)).toBe(false);
  });

  it.each([
    ['1234567', false],
    ['12345678', true],
    ['x'.repeat(100), true],
    ['x'.repeat(101), false],
    ['\u{1F600}'.repeat(7), false],
    ['\u{1F600}'.repeat(100), true],
  ])('accepts the password %s by its length: %s', (text, isLongEnough) => {
    expect(isPasswordLength(text)).toBe(isLongEnough);
  });
});
