import { execFileSync } from 'node:child_process';
import { createECDH } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  encryptContent,
  encryptionOverheadBytes,
} from '#relay/deliveries/vendors/webpush/encrypt-content.js';
import fc from '../../../support/fast-check.js';
import { WebPushPhone } from './web-push-phone.js';

const bytes = (base64url: string) => Buffer.from(base64url, 'base64url');
/** Path of Debian's Python, which can load Debian's cryptography package. */
const python = '/usr/bin/python3';

/** Example from https://www.rfc-editor.org/rfc/rfc8291#section-5 and appendix A. */
const example = {
  plaintext: 'When I grow up, I want to be a watermelon',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  senderPrivateKey: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  publicKey: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  authenticationSecret: 'BTBZMqHH6r4Tts7J_aSIgg',
  body: [
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml',
    'mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT',
    'pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  ].join(''),
};

function keysOf(phone: WebPushPhone) {
  return { publicKey: phone.keys.getPublicKey(), authenticationSecret: phone.auth };
}

describe('the encryption of Web Push', () => {
  it('reproduces the example of RFC 8291 byte for byte', () => {
    const sender = createECDH('prime256v1');
    sender.setPrivateKey(bytes(example.senderPrivateKey));
    const keys = {
      publicKey: bytes(example.publicKey),
      authenticationSecret: bytes(example.authenticationSecret),
    };
    const content = encryptContent(Buffer.from(example.plaintext), keys, {
      salt: bytes(example.salt),
      sender,
    });
    expect(content.toString('base64url')).toBe(example.body);
  });

  it('adds 103 bytes, and the phone can decrypt the result', () => {
    const phone = new WebPushPhone('https://push.example/a');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 900 }), (text) => {
        const content = encryptContent(Buffer.from(text), keysOf(phone));
        expect(phone.open(content)).toBe(text);
        expect(content.length).toBe(Buffer.byteLength(text) + encryptionOverheadBytes);
      }),
    );
    expect(encryptionOverheadBytes).toBe(103);
  });

  it('can be decrypted by python3-cryptography, an independent implementation', () => {
    const phone = new WebPushPhone('https://push.example/a');
    const text = JSON.stringify({ push_key_id: '7', encrypted_data: 'x'.repeat(3800) });
    const input = {
      private_key: phone.keys.getPrivateKey('base64url'),
      auth: phone.auth.toString('base64url'),
      body: encryptContent(Buffer.from(text), keysOf(phone)).toString('base64url'),
    };
    const script = join(import.meta.dirname, 'decrypt_web_push.py');
    const opened = execFileSync(python, ['-B', script], { input: JSON.stringify(input) });
    expect(opened.toString()).toBe(text);
  });

  it('never repeats a salt or a key, and another phone cannot decrypt the result', () => {
    const [phone, other] = [
      new WebPushPhone('https://push.example/a'),
      new WebPushPhone('https://push.example/b'),
    ];
    const contents = Array.from({ length: 100 }, () => encryptContent(Buffer.from('text'), keysOf(phone)));
    expect(new Set(contents.map((content) => content.subarray(0, 16).toString('hex'))).size).toBe(100);
    expect(new Set(contents.map((content) => content.subarray(21, 86).toString('hex'))).size).toBe(100);
    expect(() => other.open(contents[0] as Buffer)).toThrow();
  });

  it('rejects a public key that is not on the curve', () => {
    const publicKey = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]);
    const encrypt = () =>
      encryptContent(Buffer.from('text'), { publicKey, authenticationSecret: Buffer.alloc(16) });
    expect(encrypt).toThrow(expect.objectContaining({ code: 'ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY' }));
  });
});
