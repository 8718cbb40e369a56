import { describe, expect, it } from 'vitest';
import * as noble from '../../support/noble-oracle.js';
import { registrationVectors } from '../../support/protocol-vectors.js';
import { sodiumBackends } from '../../support/sodium-backends.js';
import { makeRegistrationVectors } from '../../vectors/make-registrations-that-must-fail.js';

const { wasm, native } = await sodiumBackends();
const { keys, vectors } = registrationVectors();

const keyPairs = new Map(
  keys.map((key) => [
    key.public_key,
    {
      publicKey: new Uint8Array(Buffer.from(key.public_key, 'base64')),
      privateKey: new Uint8Array(Buffer.from(key.private_key, 'base64')),
    },
  ]),
);

/** Decodes base64 only if the bytes re-encode to the same text. */
function decodeCanonicalBase64(text: string): Uint8Array | undefined {
  const compact = text.replace(/[\t\n\f\r ]/g, '');
  const bytes = Buffer.from(compact, 'base64');
  return bytes.toString('base64') === compact ? new Uint8Array(bytes) : undefined;
}

describe('The registrations that must fail', () => {
  it('match their generator', () => {
    expect(registrationVectors()).toEqual(makeRegistrationVectors());
  });

  it('have unique names, and include refused and accepted registrations', () => {
    expect(new Set(vectors.map((vector) => vector.name)).size).toBe(vectors.length);
    expect(vectors.filter((vector) => 'error' in vector.expect).length).toBeGreaterThan(100);
    expect(vectors.filter((vector) => 'ok' in vector.expect).length).toBeGreaterThan(20);
  });

  it('are accepted only if their box opens with a key in the ring', () => {
    const ring = keys.filter((key) => key.in_key_ring).map((key) => key.public_key);
    for (const vector of vectors) {
      if ('ok' in vector.expect) {
        expect(vector.box_opens, vector.name).toBe(true);
        expect(ring, vector.name).toContain(vector.bouncer_public_key);
      }
    }
  });

  it.each(vectors)('open in wasm and native exactly if they open in @noble: $name', (vector) => {
    const keyPair = keyPairs.get(vector.bouncer_public_key);
    const sealed = decodeCanonicalBase64(vector.encrypted_push_registration);
    if (keyPair === undefined || sealed === undefined) {
      expect(vector.box_opens).toBe(false);
      return;
    }
    const opened = noble.openSealed(sealed, keyPair.publicKey, keyPair.privateKey);
    expect(opened !== undefined).toBe(vector.box_opens);
    expect(wasm.openSealed(sealed, keyPair)).toEqual(opened);
    expect(native.openSealed(sealed, keyPair)).toEqual(opened);
    if (vector.plaintext !== undefined) expect(opened).toEqual(new TextEncoder().encode(vector.plaintext));
  });
});
