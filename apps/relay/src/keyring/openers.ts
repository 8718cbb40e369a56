import type { KeyPair } from '@waxwing/sodium';
import { type KeyRing, openingKeys } from './key-ring.js';

/** A key pair that opens registrations, and until when. Its private half is the ring's own, and goes with the ring. */
export interface Opener {
  readonly pair: KeyPair;
  /** Unix milliseconds, not included; infinity for the primary. */
  readonly until: number;
}

/** What opens registrations with a ring, by public key; whether its time has passed is for the caller to ask. */
export function openersOf(ring: KeyRing): ReadonlyMap<string, Opener> {
  return new Map(
    openingKeys(ring, 0).map((key) => [
      key.publicKey,
      {
        pair: {
          publicKey: new Uint8Array(Buffer.from(key.publicKey, 'base64')),
          privateKey: key.privateKey.reveal(),
        },
        until: key.state === 'primary' ? Number.POSITIVE_INFINITY : key.acceptedUntil,
      },
    ]),
  );
}
