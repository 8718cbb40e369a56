import { sealWithSharedSecret } from '../../support/noble-oracle.js';
import type { RegistrationVector } from '../../support/protocol-vectors.js';
import {
  acceptedFcm,
  base64,
  bytesOfBase64,
  fcmPlaintext,
  refused,
  relayKey,
  sealBytes,
  sealedVector,
  secondRelayKey,
  strangerKey,
  textVector,
} from './registration-case.js';

const plaintext = new TextEncoder().encode(fcmPlaintext());
const goodBox = sealBytes('good box', plaintext);
const doesNotOpen = { box_opens: false };

/** Returns boxes that do not open, keys that are not in the ring, and a plain valid case. */
export function sealedBoxCases(): RegistrationVector[] {
  return [
    sealedVector('valid fcm registration', fcmPlaintext(), acceptedFcm()),
    sealedVector('empty plaintext', '', refused(), { note: '48 bytes: the shortest box that opens' }),
    ...truncatedCases(),
    ...flippedBitCases(),
    ...otherKeyCases(),
    ...forgedBoxCases(),
  ];
}

function truncatedCases(): RegistrationVector[] {
  return [0, 1, 31, 32, 47, 48, 49, goodBox.length - 1].map((length) =>
    textVector(`box cut to ${length} bytes`, base64(goodBox.slice(0, length)), refused(), doesNotOpen),
  );
}

function flippedBitCases(): RegistrationVector[] {
  const places: [string, number][] = [
    ['first bit of the ephemeral key', 0],
    ['top bit of the ephemeral key, which X25519 ignores and the nonce does not', 8 * 31 + 7],
    ['first bit of the authenticator', 8 * 32],
    ['last bit of the authenticator', 8 * 47 + 7],
    ['first bit of the body', 8 * 48],
    ['last bit of the body', 8 * goodBox.length - 1],
  ];
  const flipped = places.map(([place, bit]) => {
    const box = goodBox.slice();
    const index = bit >> 3;
    box[index] = (box[index] ?? 0) ^ (1 << (bit & 7));
    return textVector(`flipped: ${place}`, base64(box), refused(), doesNotOpen);
  });
  const longer = new Uint8Array([...goodBox, 0]);
  return [...flipped, textVector('one byte appended', base64(longer), refused(), doesNotOpen)];
}

function otherKeyCases(): RegistrationVector[] {
  const forSecond = base64(sealBytes('to the second key', plaintext, secondRelayKey));
  const forStranger = base64(sealBytes('to a stranger', plaintext, strangerKey));
  const unknownKey = refused('INVALID_BOUNCER_PUBLIC_KEY');
  return [
    textVector('second key of the ring', forSecond, acceptedFcm(), {
      bouncer_public_key: secondRelayKey.public_key,
    }),
    textVector('sealed to the other key of the ring', forSecond, refused(), {
      ...doesNotOpen,
      note: 'only the key that the request names is tried',
    }),
    textVector('sealed to a stranger', forStranger, refused(), doesNotOpen),
    textVector('names a key outside the ring', forStranger, unknownKey, {
      bouncer_public_key: strangerKey.public_key,
    }),
    textVector('names a key outside the ring, and the box is no base64', '!', unknownKey, {
      ...doesNotOpen,
      bouncer_public_key: strangerKey.public_key,
      note: 'the key is looked up first',
    }),
    textVector('names the key without its padding', base64(goodBox), unknownKey, {
      ...doesNotOpen,
      bouncer_public_key: relayKey.public_key.replace(/=$/, ''),
      note: 'keys are compared as text',
    }),
    textVector('names the key with a space after it', base64(goodBox), unknownKey, {
      ...doesNotOpen,
      bouncer_public_key: `${relayKey.public_key} `,
      note: 'keys are compared as text',
    }),
  ];
}

/** Returns boxes that anyone can forge without a key exchange, because X25519 with a low-order point yields zero. */
function forgedBoxCases(): RegistrationVector[] {
  const publicKey = bytesOfBase64(relayKey.public_key);
  const zero = new Uint8Array(32);
  const one = Uint8Array.from(zero, (_, index) => (index === 0 ? 1 : 0));
  const zeroWithTopBit = Uint8Array.from(zero, (_, index) => (index === 31 ? 0x80 : 0));
  const points: [string, Uint8Array][] = [
    ['zero', zero],
    ['one', one],
    ['zero with the top bit set', zeroWithTopBit],
  ];
  return points.map(([point, ephemeralPublicKey]) =>
    textVector(
      `low-order ephemeral key: ${point}`,
      base64(sealWithSharedSecret(plaintext, publicKey, ephemeralPublicKey, zero)),
      refused(),
      { ...doesNotOpen, note: 'the authenticator is right for the shared secret that the point yields' },
    ),
  );
}
