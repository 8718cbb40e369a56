import type { Secret } from '@waxwing/service/config';
import type { Sodium } from '@waxwing/sodium';
import type { KeyRing } from './key-ring.js';

/**
 * Overwrites the private halves of a ring that nobody uses any more, but not those that `kept` has as well: a transition
 * hands most of them on. Two rings that were read one after the other have nothing in common.
 */
export function wipeKeyRing(ring: KeyRing, sodium: Pick<Sodium, 'wipe'>, kept?: KeyRing): void {
  const used = new Set(kept === undefined ? [] : secretsOf(kept));
  for (const secret of secretsOf(ring)) if (!used.has(secret)) sodium.wipe(secret.reveal());
}

function secretsOf({ bouncerKeys, signingKeys, tokenKeys }: KeyRing): Secret<Uint8Array>[] {
  return [
    ...bouncerKeys.flatMap((key) => ('privateKey' in key ? [key.privateKey] : [])),
    ...signingKeys.flatMap(({ privateKey }) => (privateKey === undefined ? [] : [privateKey])),
    ...tokenKeys.flatMap(({ encryptionKey, lookupKey }) => [encryptionKey, lookupKey]),
  ];
}
