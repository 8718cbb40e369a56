import { buildRegistration, sealRegistration } from '@waxwing/client';
import { parsePushRegistration } from '@waxwing/protocol';
import { loadWasmSodium } from '@waxwing/sodium';
import { describe, expect, it } from 'vitest';
import { openSealed } from '../../support/noble-oracle.js';
import { relayProtocolVectors } from '../../support/protocol-vectors.js';
import { fromBase64 } from './fake-chat-server.js';

const vectors = relayProtocolVectors();
const sodium = await loadWasmSodium();

function opened(sealed: string): Record<string, unknown> {
  const [publicKey, privateKey] = [vectors.bouncer_public_key, vectors.bouncer_private_key].map(fromBase64);
  const plaintext = openSealed(fromBase64(sealed), publicKey as Uint8Array, privateKey as Uint8Array);
  return JSON.parse(new TextDecoder().decode(plaintext));
}

describe('A sealed registration', () => {
  it.each(vectors.registrations)('has the contents of the $kind vector, and a nonce', ({ plaintext }) => {
    const { token_kind, token, timestamp, ios_app_id } = JSON.parse(plaintext);
    const pushToken =
      token_kind === 'fcm'
        ? ({ tokenKind: 'fcm', token } as const)
        : ({ tokenKind: 'apns', token, iosAppId: ios_app_id } as const);
    const registration = buildRegistration(pushToken, { timestamp });
    const sealed = sealRegistration(sodium, registration, vectors.bouncer_public_key);
    const { nonce, ...rest } = opened(sealed);
    expect(rest).toEqual(JSON.parse(plaintext));
    expect(fromBase64(String(nonce))).toHaveLength(16);
    expect(fromBase64(sealed)).toHaveLength(512 + 48);
  });

  it('has room for the longest token', () => {
    const token = '\u{1F426}'.repeat(4096);
    const sealed = sealRegistration(
      sodium,
      { tokenKind: 'fcm', token, timestamp: 1 },
      vectors.bouncer_public_key,
    );
    expect(opened(sealed).token).toBe(token);
    expect(fromBase64(sealed)).toHaveLength(32_768 + 48);
  });

  it.each(['', 'AAAA', 'not base64', `${vectors.bouncer_public_key}\n`, `${'A'.repeat(43)}=`])(
    'cannot be sealed to the key “%s”',
    (key) => {
      const registration = buildRegistration({ tokenKind: 'fcm', token: 't' }, { timestamp: 1 });
      expect(() => sealRegistration(sodium, registration, key)).toThrow(RangeError);
    },
  );
});

describe('A registration', () => {
  it('names its organization, and is rejected if the organization is invalid', () => {
    const audience = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
    const registration = buildRegistration({ tokenKind: 'fcm', token: 't' }, { timestamp: 1, audience });
    expect(registration).toEqual({ tokenKind: 'fcm', token: 't', timestamp: 1, audience });
    const parse = (fields: object) =>
      parsePushRegistration(
        new TextEncoder().encode(JSON.stringify({ token_kind: 'fcm', token: 't', timestamp: 1, ...fields })),
      );
    expect(parse({ audience: audience.toUpperCase(), nonce: 'x' })).toEqual(registration);
    expect(parse({ audience: null })).toEqual({ tokenKind: 'fcm', token: 't', timestamp: 1 });
    expect(parse({ audience: 'everybody' })).toBeUndefined();
    expect(parse({ audience: 7 })).toBeUndefined();
  });

  it.each([
    ['an empty token', { tokenKind: 'fcm', token: '' }],
    ['a token of 4097 characters', { tokenKind: 'fcm', token: 'x'.repeat(4097) }],
    ['an APNs token that is not hexadecimal', { tokenKind: 'apns', token: 'xyz', iosAppId: 'a.b' }],
    ['an invalid bundle id', { tokenKind: 'apns', token: '00ff', iosAppId: 'a_b' }],
  ] as const)('is not built with %s', (_, pushToken) => {
    expect(() => buildRegistration(pushToken, { timestamp: 1 })).toThrow(RangeError);
  });
});
