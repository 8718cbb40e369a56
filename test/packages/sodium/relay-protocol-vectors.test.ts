import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as noble from '../../support/noble-oracle.js';
import { relayProtocolVectors } from '../../support/protocol-vectors.js';
import { sodiumBackends } from '../../support/sodium-backends.js';

const { wasm, native } = await sodiumBackends();
const vectors = relayProtocolVectors();

const implementations = [
  { name: 'wasm', ...wasm },
  { name: 'native', ...native },
  {
    name: '@noble',
    ...noble,
    openSealed: (sealed: Uint8Array, keys: { publicKey: Uint8Array; privateKey: Uint8Array }) =>
      noble.openSealed(sealed, keys.publicKey, keys.privateKey),
  },
];

const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
const text = (plaintext: Uint8Array | undefined) => plaintext && new TextDecoder().decode(plaintext);

describe.each(implementations)('The vectors of encrypted push in $name', (sodium) => {
  const bouncerKeyPair = {
    publicKey: bytes(vectors.bouncer_public_key),
    privateKey: bytes(vectors.bouncer_private_key),
  };

  it.each(vectors.registrations)('open the sealed $kind registration to its plaintext', (registration) => {
    const sealed = bytes(registration.sealed);
    expect(sealed).toHaveLength(registration.len);
    expect(text(sodium.openSealed(sealed, bouncerKeyPair))).toBe(registration.plaintext);
  });

  it.each(vectors.notifications)(
    'open and seal the $type notification of the newer generation',
    (notification) => {
      const pushKey = bytes(vectors.push_key);
      const key = pushKey.slice(1);
      const encryptedData = bytes(notification.encrypted_data);
      const nonce = encryptedData.slice(0, 24);
      expect(pushKey[0]).toBe(0x31);
      expect(encryptedData).toHaveLength(notification.len);
      expect(nonce).toEqual(bytes(vectors.nonce));

      const plaintext = sodium.openSecretBox(encryptedData.slice(24), nonce, key);
      expect(text(plaintext)).toBe(notification.plaintext_utf8);
      expect(plaintext).toHaveLength(notification.plain_len);

      const sealed = sodium.sealSecretBox(new TextEncoder().encode(notification.plaintext_utf8), nonce, key);
      expect(sealed).toEqual(encryptedData.slice(24));
    },
  );

  it('open the older generation’s sealed notification', () => {
    const keyPair = {
      publicKey: bytes(vectors.gen11.push_public_key),
      privateKey: bytes(vectors.gen11.client_private_key),
    };
    expect(text(sodium.openSealed(bytes(vectors.gen11.encrypted_data), keyPair))).toBe(
      vectors.gen11.plaintext,
    );
  });

  it('derive both public keys from the private keys', () => {
    expect(sodium.publicKeyOf(bytes(vectors.bouncer_private_key))).toEqual(bytes(vectors.bouncer_public_key));
    expect(sodium.publicKeyOf(bytes(vectors.gen11.client_private_key))).toEqual(
      bytes(vectors.gen11.push_public_key),
    );
  });
});

describe('The oracle in @noble', () => {
  it.each(vectors.registrations)('seals the $kind registration to exactly the same bytes', (registration) => {
    const sealed = noble.seal(
      new TextEncoder().encode(registration.plaintext),
      bytes(vectors.bouncer_public_key),
      bytes(vectors.ephemeral_private_key),
    );
    expect(sealed).toEqual(bytes(registration.sealed));
  });
});

describe("The project's copy of the vectors", () => {
  it('equals the published file except for whitespace', () => {
    const digest = createHash('sha256').update(JSON.stringify(vectors)).digest('hex');
    expect(digest).toBe('094da71280b7cbe585acc5fd99944e2d0d28224f18c0d67764b101db4be888e8');
  });
});
