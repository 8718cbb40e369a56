import { decodeBase64, encodeBase64 } from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';
import { exampleKeys } from './example-keys.js';
import type { BouncerKey, KeyRing, SigningKey } from './key-ring.js';
import { isVapidPair, type VapidKey } from './vapid-key.js';

/**
 * Validates a key ring. Returns one sentence with the problem and its remedy, or `undefined` if the ring is valid. A
 * valid ring has exactly one primary key and no duplicate or example keys, and each public half matches its private
 * half.
 */
export function checkKeyRing(ring: KeyRing, sodium: Sodium): string | undefined {
  return (
    checkStates(ring.bouncerKeys) ??
    firstProblem(ring.bouncerKeys, (key) => checkBouncerKey(key, sodium)) ??
    checkSigningKeys(ring.signingKeys, sodium) ??
    checkVapidKeys(ring.vapidKeys) ??
    (ring.tokenKeys.length === 0
      ? 'The key ring has no token key: restore it from a backup, because nothing else can decrypt the tokens in the database.'
      : undefined)
  );
}

/** Validates one key pair from a file to import. Returns a sentence or `undefined`, like {@link checkKeyRing}. */
export function checkKeyPair(
  { publicKey, privateKey }: { readonly publicKey: string; readonly privateKey: Uint8Array },
  sodium: Sodium,
): string | undefined {
  if (exampleKeys.has(publicKey)) {
    return `The key ${publicKey} is from keys.example, so its private half is public: create your own with waxwing-relay keys init or keys rotate.`;
  }
  const bytes = decodeBase64(publicKey);
  if (bytes === undefined || !sodium.isUsablePublicKey(bytes)) {
    return `The key ${publicKey} is not a usable X25519 public key: remove it.`;
  }
  if (encodeBase64(sodium.publicKeyOf(privateKey)) !== publicKey) {
    return `The public key ${publicKey} does not belong to its private key: correct the pair, or restore it from a backup.`;
  }
  return undefined;
}

function checkStates(keys: readonly BouncerKey[]): string | undefined {
  if (keys.length === 0) {
    return 'The key ring is empty: create one with waxwing-relay keys init, or restore it from a backup.';
  }
  const primaries = keys.filter(({ state }) => state === 'primary');
  if (primaries.length !== 1) {
    const named = primaries.length === 0 ? 'no primary key' : `${primaries.length} primary keys`;
    return `The key ring has ${named} where exactly one is needed: restore it from a backup, or import its keys into a new ring.`;
  }
  const publicKeys = new Set<string>();
  const repeated = keys.find(({ publicKey }) => publicKeys.size === publicKeys.add(publicKey).size);
  if (repeated !== undefined)
    return `The key ring contains key ${repeated.id} twice: restore it from a backup.`;
  return undefined;
}

function checkBouncerKey(key: BouncerKey, sodium: Sodium): string | undefined {
  if (key.state === 'retired' || key.state === 'compromised') return undefined;
  return checkKeyPair({ publicKey: key.publicKey, privateKey: key.privateKey.reveal() }, sodium);
}

function checkSigningKeys(keys: readonly SigningKey[], sodium: Sodium): string | undefined {
  const last = keys.at(-1);
  if (last?.privateKey === undefined) {
    return 'The key ring has no key that signs the key list: restore it from a backup.';
  }
  const sample = new TextEncoder().encode('waxwing key ring check');
  const signature = sodium.signDetached(sample, last.privateKey.reveal());
  if (!sodium.verifyDetached(signature, sample, decodeBase64(last.publicKey) ?? new Uint8Array())) {
    return `The signing key ${last.publicKey} does not belong to its private key: restore the key ring from a backup.`;
  }
  return undefined;
}

function checkVapidKeys(keys: readonly VapidKey[]): string | undefined {
  const names = new Set(keys.map(({ name }) => name));
  if (names.size < keys.length) {
    return 'The key ring contains two VAPID keys for one app: restore it from a backup.';
  }
  return firstProblem(keys, (key) =>
    isVapidPair(key)
      ? undefined
      : `The VAPID key of ${key.name} does not belong to its private half: restore the key ring from a backup.`,
  );
}

function firstProblem<T>(items: readonly T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
