import { encodeBase64 } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import type { KeyPair } from '@waxwing/sodium';
import {
  type AcceptedKey,
  type BouncerKey,
  type BouncerPublicKey,
  findKey,
  type KeyRing,
  keyId,
  type PrimaryKey,
  primaryKey,
} from './key-ring.js';
import type { RotationPolicy } from './rotation-policy.js';

/** Input of a transition, apart from the ring. `now` is in Unix milliseconds. */
export interface TransitionContext {
  readonly now: number;
  readonly policy: RotationPolicy;
  /** Generates the key pair of a new primary; called at most once. */
  makeKeyPair(): KeyPair;
}

/** An imported key with both halves. */
export interface ImportedKey {
  readonly publicKey: BouncerPublicKey;
  readonly privateKey: Secret<Uint8Array>;
  readonly createdAt: number | undefined;
  /** Unix milliseconds; `undefined` if the policy decides. */
  readonly acceptedUntil: number | undefined;
}

export function newPrimaryKey({ publicKey, privateKey }: KeyPair, createdAt: number): PrimaryKey {
  const facts = { id: keyId(publicKey), publicKey: encodeBase64(publicKey) as BouncerPublicKey, createdAt };
  return { ...facts, state: 'primary', primarySince: createdAt, privateKey: new Secret(privateKey) };
}

/** Creates a new primary key. The old primary key stays accepted for the policy's period. */
export function rotate(ring: KeyRing, context: TransitionContext): KeyRing {
  const { now, policy } = context;
  const { bouncerKeys } = replaceKey(ring, asReplaced(primaryKey(ring), { now, policy }));
  return { ...ring, bouncerKeys: [...bouncerKeys, newPrimaryKey(context.makeKeyPair(), now)] };
}

/**
 * Applies the schedule: retires accepted keys after their end date and replaces a primary key that is too old. Returns
 * the same ring object if nothing is due.
 */
export function applySchedule(ring: KeyRing, context: TransitionContext): KeyRing {
  const { now, policy } = context;
  const isPast = (key: BouncerKey) => key.state === 'accepted' && key.acceptedUntil <= now;
  const kept = ring.bouncerKeys.some(isPast)
    ? { ...ring, bouncerKeys: ring.bouncerKeys.map((key) => (isPast(key) ? asRetired(key, now) : key)) }
    : ring;
  const isDue = primaryKey(ring).primarySince + policy.rotateAfterMilliseconds <= now;
  return isDue ? rotate(kept, context) : kept;
}

/** Retires an accepted key: refuses it from now on and destroys its private half. */
export function retire(ring: KeyRing, name: string, now: number): KeyRing {
  const key = namedKey(ring, name);
  if (key.state === 'primary') {
    throw new CommandError(`Key ${key.id} is the primary key: rotate first, then retire it.`);
  }
  if (key.state !== 'accepted') throw new CommandError(`Key ${key.id} is already ${key.state}.`);
  return replaceKey(ring, asRetired(key, now));
}

/**
 * Revokes a key that may have been stolen: refuses it immediately and lists it as revoked. A new key replaces a revoked
 * primary key.
 */
export function revoke(ring: KeyRing, name: string, context: TransitionContext): KeyRing {
  const key = namedKey(ring, name);
  if (key.state === 'compromised') throw new CommandError(`Key ${key.id} is already compromised.`);
  const rotated = key.state === 'primary' ? rotate(ring, context) : ring;
  const { id, publicKey, createdAt } = key;
  return replaceKey(rotated, {
    id,
    publicKey,
    createdAt,
    state: 'compromised',
    revokedAt: context.now,
  });
}

/** Adds imported keys as accepted keys. Keys that are already in the ring stay unchanged. */
export function importKeys(
  ring: KeyRing,
  imported: readonly ImportedKey[],
  { now, policy }: Pick<TransitionContext, 'now' | 'policy'>,
): KeyRing {
  const known = new Map(ring.bouncerKeys.map((key) => [key.publicKey, key]));
  const added: AcceptedKey[] = [];
  for (const key of imported) {
    const old = known.get(key.publicKey);
    if (old?.state === 'retired' || old?.state === 'compromised') {
      throw new CommandError(
        `Key ${old.id} is ${old.state} in this ring and cannot return: remove it from the file.`,
      );
    }
    if (old === undefined) added.push(asAccepted(key, { now, policy }));
  }
  if (added.length === 0) return ring;
  return { ...ring, bouncerKeys: [...added, ...ring.bouncerKeys].sort(byAge) };
}

/** Makes an accepted key the primary key. The old primary key, if any, becomes an accepted key. */
export function promote(
  ring: KeyRing,
  name: string,
  { now, policy }: Pick<TransitionContext, 'now' | 'policy'>,
): KeyRing {
  const chosen = namedKey(ring, name);
  if (chosen.state === 'primary') return ring;
  if (chosen.state !== 'accepted') throw new CommandError(`Key ${chosen.id} is ${chosen.state}.`);
  const { acceptedSince: _, acceptedUntil: __, ...facts } = chosen;
  const bouncerKeys = ring.bouncerKeys.map((key): BouncerKey => {
    if (key.id === chosen.id) return { ...facts, state: 'primary', primarySince: now };
    return key.state === 'primary' ? asReplaced(key, { now, policy }) : key;
  });
  return { ...ring, bouncerKeys };
}

/**
 * Destroys token keys that are older than key `id`. Call it only after all tokens have been re-encrypted with key `id`.
 */
export function concludeTokenMove(ring: KeyRing, id: string): KeyRing {
  const index = ring.tokenKeys.findIndex((key) => key.id === id);
  return index > 0 ? { ...ring, tokenKeys: ring.tokenKeys.slice(index) } : ring;
}

export function namedKey(ring: KeyRing, name: string): BouncerKey {
  const key = findKey(ring, name);
  if (key === undefined) {
    throw new CommandError(
      `The key ring has no key "${name}": use the id or the public key of one of its keys.`,
    );
  }
  return key;
}

function asAccepted(
  key: ImportedKey,
  { now, policy }: Pick<TransitionContext, 'now' | 'policy'>,
): AcceptedKey {
  return {
    id: keyId(Buffer.from(key.publicKey, 'base64')),
    publicKey: key.publicKey,
    privateKey: key.privateKey,
    createdAt: key.createdAt ?? now,
    state: 'accepted',
    acceptedSince: now,
    acceptedUntil: key.acceptedUntil ?? now + policy.acceptForMilliseconds,
  };
}

function asReplaced(
  { primarySince: _, ...facts }: PrimaryKey,
  { now, policy }: Pick<TransitionContext, 'now' | 'policy'>,
): AcceptedKey {
  const acceptedUntil = now + policy.acceptForMilliseconds;
  return { ...facts, state: 'accepted', acceptedSince: now, acceptedUntil };
}

function asRetired({ id, publicKey, createdAt }: BouncerKey, retiredAt: number): BouncerKey {
  return { id, publicKey, createdAt, state: 'retired', retiredAt };
}

function replaceKey(ring: KeyRing, changed: BouncerKey): KeyRing {
  const bouncerKeys = ring.bouncerKeys.map((key) => (key.publicKey === changed.publicKey ? changed : key));
  return { ...ring, bouncerKeys };
}

function byAge(left: BouncerKey, right: BouncerKey): number {
  return left.createdAt - right.createdAt;
}
