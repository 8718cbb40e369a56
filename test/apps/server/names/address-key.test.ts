import { describe, expect, it } from 'vitest';
import { idOfDummyAddress } from '#server/people/users/address-visibility.js';
import { isReservedAddress } from '#server/people/users/reserved-identity.js';
import { addressKey } from '#server/platform/names/address-key.js';
import { eachBackend } from '../../../support/test-databases.js';
import { ServerUnderTest } from '../server-under-test.js';

/** Each address, followed by other addresses that belong to the same user. */
const same: readonly [string, ...string[]][] = [
  ['café@example.com', 'cafe\u0301@example.com', 'CAFÉ@EXAMPLE.COM'],
  ['yılmaz@example.com.tr', 'yilmaz@example.com.tr', 'YILMAZ@example.com.tr'],
  ['ada@example.com', 'Ada@Example.com'],
  ['ada@münchen.example', 'ada@xn--mnchen-3ya.example', 'Ada@XN--MNCHEN-3YA.example'],
];

it.each(same)('the address %s has the same key as its other spellings', (address, ...others) => {
  for (const other of others) expect(addressKey(other)).toBe(addressKey(address));
  expect(isReservedAddress(address)).toBe(false);
});

it('a dummy address is recognized in every spelling of its host', () => {
  const realm = { url: 'https://chat.münchen.example' };
  for (const host of ['chat.münchen.example', 'CHAT.MÜNCHEN.example', 'chat.xn--mnchen-3ya.example']) {
    expect(idOfDummyAddress(`user8@${host}`, realm)).toBe(8);
  }
  expect(idOfDummyAddress('user8@münchen.example', realm)).toBeUndefined();
});

it('any text has a key, computed in linear time', () => {
  expect(addressKey('@xn--.example')).toBe('@xn--.example');
  for (const text of ['xn--', '@xn--', 'a@', '@']) {
    const begun = performance.now();
    addressKey(`${text.repeat(100_000)}!`);
    expect(performance.now() - begun).toBeLessThan(1000);
  }
});

eachBackend((backend) => {
  describe('a user whose address can be written in several ways', () => {
    it('is found by each spelling, and no other user can have one of the spellings', async () => {
      const test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl(), withoutRelay: true });
      try {
        for (const [address, ...others] of same) {
          const { apiKey } = await test.addAccount(address);
          for (const other of others) {
            const authorization = `Basic ${Buffer.from(`${other}:${apiKey}`).toString('base64')}`;
            const { status, body } = await test.send({
              method: 'GET',
              url: '/api/v1/users/me',
              headers: { authorization },
            });
            expect([other, status, body.delivery_email]).toEqual([other, 200, address]);
            await expect(test.addAccount(other)).rejects.toThrow('A user with the address');
          }
        }
      } finally {
        await test.close();
      }
    });

    it('is locked after five failed sign-ins with any of the spellings', async () => {
      const test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl(), withoutRelay: true });
      const fail = async (username: string) =>
        (await test.ask(undefined, 'POST', 'fetch_api_key', { username, password: 'wrong horse battery' }))
          .body.code;
      try {
        for (const spellings of same) {
          const names = Array.from({ length: 6 }, (_, index) => spellings[index % spellings.length] ?? '');
          const codes = [];
          for (const name of names) codes.push(await fail(name));
          expect(codes.lastIndexOf('AUTHENTICATION_FAILED')).toBe(4);
          expect(codes[5]).toBe('RATE_LIMIT_HIT');
        }
      } finally {
        await test.close();
      }
    });
  });
});
