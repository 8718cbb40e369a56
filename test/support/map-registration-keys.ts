import type { KeyPair } from '@waxwing/sodium';
import type { RegistrationKeys } from '#relay/registrations/registration-keys.js';

/** {@link RegistrationKeys} in memory. `used` counts the registrations that were committed, by public key. */
export interface MapRegistrationKeys extends RegistrationKeys {
  readonly used: Map<string, number>;
  add(publicKey: string, privateKey: string): void;
  remove(publicKey: string): void;
}

export function createMapRegistrationKeys(): MapRegistrationKeys {
  const pairs = new Map<string, KeyPair>();
  const used = new Map<string, number>();
  return {
    used,
    add(publicKey, privateKey) {
      pairs.set(publicKey, { publicKey: bytes(publicKey), privateKey: bytes(privateKey) });
    },
    remove: (publicKey) => void pairs.delete(publicKey),
    // Nobody else changes these keys.
    takeOver: async () => undefined,
    find: (publicKey) => pairs.get(publicKey),
    keyUsed(transaction, publicKey, count) {
      transaction.afterCommit(() => used.set(publicKey, (used.get(publicKey) ?? 0) + count));
    },
  };
}

function bytes(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}
