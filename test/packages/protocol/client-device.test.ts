import {
  decodePushKey,
  encodeBase64,
  encodePushKey,
  parseClientDeviceEvent,
  parseClientDevices,
  parsePushKeyId,
  parseTokenId,
  pushKeyIdFromBytes,
  readTokenId,
} from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const published = [
  'MY+paNlyduYJRQFNZva8w7Gv3PkBua9kIj581F9Vr301',
  'MTaUDJDMWypQ1WufZ1NRTHSSvgYtXh1qVNSjN3aBiEFt',
];

describe('push keys', () => {
  it.each(published)('round-trip for the published key %s', (text) => {
    const key = decodePushKey(text);
    expect(key).toHaveLength(32);
    expect(encodePushKey(key as Uint8Array)).toBe(text);
  });

  it('round-trip, and are rejected with any other first byte or length', () => {
    fc.assert(
      fc.property(bytesOf(32), fc.uint8Array({ maxLength: 40 }), (key, other) => {
        expect(decodePushKey(encodePushKey(key))).toEqual(key);
        const isPushKey = other.length === 33 && other[0] === 0x31;
        expect(decodePushKey(encodeBase64(other)) !== undefined).toBe(isPushKey);
      }),
    );
  });

  it.each(['@abcdefg', 'abcd', '', published[0]?.replace('M', 'N') as string])(
    'are rejected if the text is %j',
    (text) => {
      expect(decodePushKey(text)).toBeUndefined();
    },
  );

  it('have 32-bit ids, as a number or a string', () => {
    fc.assert(
      fc.property(fc.oneof(fc.bigInt({ min: -(2n ** 34n), max: 2n ** 34n })), (id) => {
        const expected = id >= 0n && id < 2n ** 32n ? Number(id) : undefined;
        expect(parsePushKeyId(Number(id))).toBe(expected);
        expect(parsePushKeyId(id.toString())).toBe(expected);
      }),
    );
    expect([1.5, '01', '1e3', '', null, true].map(parsePushKeyId)).toEqual(Array(6).fill(undefined));
    expect(pushKeyIdFromBytes(Uint8Array.of(0xff, 0, 0, 1))).toBe(0xff00_0001);
  });
});

describe('devices', () => {
  const device = {
    push_key_id: 1144,
    push_token_id: null,
    pending_push_token_id: '+wKIhyAx/Eg=',
    push_token_last_updated_timestamp: 1_773_200_000,
    push_registration_error_code: 'REQUEST_EXPIRED',
  };

  it('are parsed from the response that opens a queue, without unknown fields', () => {
    expect(parseClientDevices({ 7: { ...device, more: 1 } })).toEqual(new Map([['7', device]]));
  });

  it.each([
    { push_key_id: 2 ** 32 },
    { push_key_id: undefined },
    { push_token_id: 'AAAA' },
    { pending_push_token_id: 5 },
    { push_token_last_updated_timestamp: '5' },
    { push_registration_error_code: 5 },
  ])('are rejected in a map with %j', (change) => {
    expect(parseClientDevices({ 7: { ...device, ...change } })).toBeUndefined();
  });

  it('have events that distinguish a field that became null from an unchanged field', () => {
    const event = { type: 'device', op: 'update', device_id: 7, push_token_id: null };
    expect(parseClientDeviceEvent({ ...event, id: 3 })).toEqual(event);
    expect(parseClientDeviceEvent({ ...event, push_token_id: 'AAAA' })).toBeUndefined();
    expect(parseClientDeviceEvent({ type: 'device', op: 'add', device_id: 7 })).toEqual({
      type: 'device',
      op: 'add',
      device_id: 7,
    });
    expect(parseClientDeviceEvent({ type: 'device', op: 'add', device_id: -1 })).toBeUndefined();
    expect(parseClientDeviceEvent({ type: 'device', op: 'renamed', device_id: 7 })).toBeUndefined();
  });

  it('have token ids of 8 bytes in canonical base64', () => {
    expect(parseTokenId('AAAAAAAAAAE=')).toBe('AAAAAAAAAAE=');
    expect(['AAAAAAAAAAF=', 'AAAAAAAAAAE', '192057', '', 1].map(parseTokenId)).toEqual(
      Array(5).fill(undefined),
    );
  });

  it('have token ids that are read from phones as stock servers do, and converted to canonical base64', () => {
    expect(['AAAAAAAAAAE=', 'AAAAAAAAAAF=', 'AAAAAAAAAAG=', 'AAAAAAAAAAH='].map(readTokenId)).toEqual(
      Array(4).fill('AAAAAAAAAAE='),
    );
    const others = ['AAAAAAAAAAE', 'AAAAAAAA', 'AAAAAAAAAA==', 'AAAAAAAAAAAA', '-_AAAAAAAAE=', '192057', ''];
    expect(others.map(readTokenId)).toEqual(Array(7).fill(undefined));
  });
});
