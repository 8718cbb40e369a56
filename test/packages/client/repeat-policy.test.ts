import { expect, it } from 'vitest';
import { isWorthRepeating } from '#client/registration/repeat-policy.js';

const refused = 'INVALID_BOUNCER_PUBLIC_KEY';
const pushToken = { tokenKind: 'fcm', token: 'a' } as const;
const sent = { pushToken, bouncerPublicKey: 'one', timestamp: 0, repeatedForSequence: 7 };
const ofList = (publicKey: string, sequence: number) =>
  ({ source: 'key-list', publicKey, sequence }) as const;

it('repeats a refused key once for each key list, and tries every other key', () => {
  expect(isWorthRepeating(sent, refused, ofList('one', 7))).toBe(false);
  expect(isWorthRepeating(sent, refused, ofList('one', 8))).toBe(true);
  expect(isWorthRepeating(sent, refused, ofList('two', 7))).toBe(true);
});
