import { encodeBase64 } from '@waxwing/protocol';
import type { KeyPair, Sodium } from '@waxwing/sodium';
import { type KeyRing, type OpeningKey, openingKeys } from '../ring/key-ring.js';

/** A key pair that opens registrations, and its expiry. The private half belongs to the ring and is wiped with it. */
export interface Opener {
  readonly pair: KeyPair;
  /** Unix milliseconds, exclusive; infinity for the primary key. */
  readonly until: number;
}

/** Indexes a ring's opening keys by public key. Includes expired keys: the caller checks `until`. */
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

/**
 * Returns a sentence that names the keys for which `find` returns no matching private half, or `undefined` if there are
 * none.
 */
export function describeShutKeys(
  keys: readonly OpeningKey[],
  find: (publicKey: string) => KeyPair | undefined,
  sodium: Pick<Sodium, 'publicKeyOf'>,
): string | undefined {
  const shut = keys.filter(({ publicKey }) => {
    const pair = find(publicKey);
    return pair === undefined || encodeBase64(sodium.publicKeyOf(pair.privateKey)) !== publicKey;
  });
  if (shut.length === 0) return undefined;
  const names = shut.map(({ id, state }) => `${id} (${state})`).join(', ');
  return `the key ring in use cannot open registrations, because it has no private half of its key ${names}: restart the relay, and restore the ring from a backup if it does not start.`;
}
