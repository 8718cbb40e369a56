import {
  encodePushRegistration,
  encodePushRevocation,
  type PushAccountId,
  type PushRevocation,
  parsePushRegistration,
  parsePushRevocation,
  tokenIdFromDigest,
} from '@waxwing/protocol';
import { expect, it } from 'vitest';
import fc from '../../support/fast-check.js';

const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => value as PushAccountId);
const tokenId = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(tokenIdFromDigest);
const text = fc
  .string({ minLength: 1, maxLength: 4096, unit: 'grapheme' })
  .filter((each) => each.length <= 8192);

const revocation: fc.Arbitrary<PushRevocation> = fc
  .record({
    token: text,
    realmUuid: fc.uuid(),
    timestamp: fc.maxSafeInteger(),
    named: fc.oneof(
      fc.record({ pushAccountId: id }),
      fc.record({ tokenId }),
      fc.record({ pushAccountId: id, tokenId }),
    ),
  })
  .map(({ named, ...fields }) => ({ ...fields, ...named }));

it('every revocation round-trips, and is not a registration', () => {
  fc.assert(
    fc.property(revocation, fc.base64String(), (given, nonce) => {
      const bytes = encodePushRevocation(given, nonce);
      expect(parsePushRevocation(bytes)).toEqual(given);
      expect(parsePushRegistration(bytes)).toBeUndefined();
    }),
  );
});

it('no registration is a revocation', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 100 }),
      fc.uuid(),
      fc.nat(),
      id,
      (token, audience, timestamp, pushAccountId) => {
        const bytes = encodePushRegistration({ tokenKind: 'fcm', token, timestamp, audience, pushAccountId });
        expect(parsePushRevocation(bytes)).toBeUndefined();
      },
    ),
  );
});

it('the length of a revocation reveals little about the token', () => {
  const lengthOf = (token: string) =>
    encodePushRevocation(
      { token, realmUuid: crypto.randomUUID(), timestamp: 1, tokenId: 'AAAAAAAAAAE=' as never },
      'n',
    ).length;
  expect([lengthOf('a'), lengthOf('a'.repeat(200)), lengthOf('a'.repeat(400))]).toEqual([512, 512, 1024]);
});
