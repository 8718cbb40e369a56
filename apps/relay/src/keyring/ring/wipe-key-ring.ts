import type { Secret } from '@waxwing/service/config';
import type { Sodium } from '@waxwing/sodium';
import type { KeyRing } from './key-ring.js';

/**
 * Overwrites the private halves of an unused ring. Skips private halves that the ring shares with `kept`, because a
 * transition reuses most of them. Two rings from separate reads share no private halves.
 */
export function wipeKeyRing(ring: KeyRing, sodium: Pick<Sodium, 'wipe'>, kept?: KeyRing): void {
  const used = new Set(kept === undefined ? [] : secretsOf(kept));
  for (const secret of secretsOf(ring)) if (!used.has(secret)) sodium.wipe(secret.reveal());
}

function secretsOf({ bouncerKeys, signingKeys, tokenKeys, vapidKeys }: KeyRing): Secret<Uint8Array>[] {
  return [
    ...bouncerKeys.flatMap((key) => ('privateKey' in key ? [key.privateKey] : [])),
    ...signingKeys.flatMap(({ privateKey }) => (privateKey === undefined ? [] : [privateKey])),
    ...vapidKeys.map(({ privateKey }) => privateKey),
    ...tokenKeys.flatMap(({ encryptionKey, lookupKey }) => [encryptionKey, lookupKey]),
  ];
}
