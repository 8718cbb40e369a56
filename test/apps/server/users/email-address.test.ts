import { describe, expect, it } from 'vitest';
import { isEmailAddress } from '#server/people/users/email-address.js';
import fc from '../../../support/fast-check.js';

describe('an e-mail address', () => {
  it.each([
    ...[
      'ada@example.com',
      'Ada.Lovelace+tag@mail.example.co.uk',
      "o'brien@example.com",
      'a_b%c=d/e@example.com',
    ],
    ...[
      'ADA@EXAMPLE.COM',
      'a@b.cd',
      '1@2.example',
      'ada@xn--mller-kva.example',
      'иван@xn--80a1acny.xn--p1ai',
    ],
    ...[
      'jürgen@müller.example',
      'ü@audit.example',
      'иван.петров@почта.рф',
      '山田@例え.jp',
      'राम@डाटामेल.भारत',
    ],
    `${'x'.repeat(64)}@example.com`,
    `${'ü'.repeat(32)}@example.com`,
    `${'x'.repeat(64)}@${`${'y'.repeat(63)}.`.repeat(2)}${'z'.repeat(57)}.com`,
  ])('can be %j', (text) => {
    expect(isEmailAddress(text)).toBe(true);
  });

  it.each([
    ...[
      '<x>@audit.example',
      'a@b',
      'Ada <ada@example.com>',
      'ada@example.com, bob@example.com',
      'ada@@example.com',
    ],
    ...['', '@', 'ada', 'ada@', '@example.com', 'a:b@example.com', 'a b@example.com', 'ada@exam ple.com'],
    ...['.ada@example.com', 'ada.@example.com', 'a..b@example.com', 'ada@.example.com', 'ada@example..com'],
    ...[
      'ada@example.com.',
      'ada@-example.com',
      'ada@example-.com',
      'ada@my_host.com',
      'ada@192.0.2.1',
      'ada@[192.0.2.1]',
    ],
    ...['"a b"@example.com', '"<x>"@example.com', 'ada\\@example.com', 'a(b)@example.com', 'a;b@example.com'],
    ...[
      'ada@example.c',
      'ada@example.123',
      'ada@localhost',
      'ada@exa<mple.com',
      'mailto:ada@example.com',
      'ada@example.com\n',
    ],
    ...[
      'ada@example.com:80',
      'ada@example.com/x',
      'ada@example.com\\x.org',
      'ada@example.com?x',
      'ada@example.com#x',
      'ada@%65xample.com',
      `ada@${'x'.repeat(64)}.com`,
      `${'x'.repeat(65)}@example.com`,
      `${'ü'.repeat(33)}@example.com`,
      `${'x'.repeat(64)}@${`${'y'.repeat(63)}.`.repeat(2)}${'z'.repeat(58)}.com`,
    ],
  ])('cannot be %j', (text) => {
    expect(isEmailAddress(text)).toBe(false);
  });

  it('cannot have a character with a meaning in a mail header or in credentials', () => {
    const special = fc.constantFrom(...'<>()[]\\,;:"\t\r\n @');
    const around = fc.stringMatching(/^(?:[a-z.]{0,5}|[a-z]\.com)$/);
    fc.assert(
      fc.property(around, special, around, (before, character, after) => {
        expect(isEmailAddress(`${before}${character}${after}@example.com`)).toBe(false);
        expect(isEmailAddress(`ada@${before}${character}${after}.com`)).toBe(false);
        expect(isEmailAddress(`ada@${before}${character}${after}`)).toBe(false);
      }),
    );
  });
});
