import { describe, expect, it } from 'vitest';
import { publishKeyList } from '#relay/keyring/list/publish-key-list.js';
import { checkKeyRing } from '#relay/keyring/ring/check-key-ring.js';
import type { BouncerPublicKey } from '#relay/keyring/ring/key-ring.js';
import { type KeyRing, openingKeys, primaryKey } from '#relay/keyring/ring/key-ring.js';
import {
  applySchedule,
  importKeys,
  retire,
  revoke,
  rotate,
} from '#relay/keyring/ring/key-ring-transitions.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { decodeKeyRing, encodeKeyRing } from '#relay/keyring/storage/key-ring-document.js';
import fc from '../../../support/fast-check.js';
import { day, policy, sodium, startedAt } from './ring-material.js';

type Step =
  | { readonly kind: 'rotate' | 'restart' | 'import' }
  | { readonly kind: 'retire' | 'revoke'; readonly which: number }
  | { readonly kind: 'wait'; readonly days: number }
  | { readonly kind: 'seal' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Step>({ kind: 'seal' }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Step>({ kind: 'rotate' }, { kind: 'restart' }, { kind: 'import' }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('retire' as const, 'revoke' as const), which: fc.nat(9) }),
  },
  // Also moves the clock backward, because operators correct clocks.
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), days: fc.integer({ min: -200, max: 500 }) }),
  },
);

interface InFlight {
  readonly publicKey: BouncerPublicKey;
  readonly box: Uint8Array;
  goodUntil: number;
}

/** Observations from outside that the ring must not contradict. */
interface Model {
  ring: KeyRing;
  now: number;
  readonly gone: Set<string>;
  readonly destroyed: Set<string>;
  readonly inFlight: InFlight[];
  lastSequence: number;
}

const plaintext = new TextEncoder().encode('a registration');

function context(model: Model) {
  return { now: model.now, policy, makeKeyPair: () => sodium.generateKeyPair() };
}

function attempt(model: Model, transition: (ring: KeyRing) => KeyRing): boolean {
  try {
    model.ring = transition(model.ring);
    return true;
  } catch (error) {
    expect((error as Error).name).toBe('CommandError');
    return false;
  }
}

function take(model: Model, taken: Step): void {
  const primaryBefore = primaryKey(model.ring).publicKey;
  const keys = model.ring.bouncerKeys;
  const key = 'which' in taken ? keys[taken.which % keys.length] : undefined;
  switch (taken.kind) {
    case 'rotate':
      attempt(model, (ring) => rotate(ring, context(model)));
      break;
    case 'restart':
      model.ring = decodeKeyRing(encodeKeyRing(model.ring));
      break;
    case 'import': {
      const { publicKey, privateKey } = importedPair();
      const imported = { publicKey, privateKey, createdAt: undefined, acceptedUntil: undefined };
      attempt(model, (ring) => importKeys(ring, [imported], context(model)));
      break;
    }
    case 'retire':
      if (attempt(model, (ring) => retire(ring, key?.id ?? '', model.now)))
        model.gone.add(key?.publicKey ?? '');
      break;
    case 'revoke':
      if (attempt(model, (ring) => revoke(ring, key?.id ?? '', context(model))))
        model.gone.add(key?.publicKey ?? '');
      break;
    case 'wait':
      model.now = Math.max(startedAt, model.now + taken.days * day);
      break;
    case 'seal': {
      const primary = primaryKey(model.ring);
      const box = sodium.seal(plaintext, Buffer.from(primary.publicKey, 'base64'));
      model.inFlight.push({
        publicKey: primary.publicKey,
        box,
        goodUntil: model.now + policy.acceptForMilliseconds,
      });
    }
  }
  model.ring = applySchedule(model.ring, context(model));
  model.ring = publishKeyList(model.ring, { sodium, policy, now: model.now });
  if (primaryKey(model.ring).publicKey !== primaryBefore) shortenPromises(model, primaryBefore);
}

/**
 * Shortens the expected acceptance period. The policy counts from the rotation, so acceptance ends earlier if the clock
 * was set back after the registration was sealed.
 */
function shortenPromises(model: Model, replaced: string): void {
  const until = model.now + policy.acceptForMilliseconds;
  for (const sealed of model.inFlight) {
    if (sealed.publicKey === replaced) sealed.goodUntil = Math.min(sealed.goodUntil, until);
  }
}

function importedPair() {
  const ring = newKeyRing(sodium, 0);
  return primaryKey(ring);
}

function check(model: Model): void {
  const { ring, now } = model;
  expect(checkKeyRing(ring, sodium)).toBeUndefined();
  const open = new Map(openingKeys(ring, now).map((key) => [key.publicKey, key]));
  for (const { publicKey, box, goodUntil } of model.inFlight) {
    if (model.gone.has(publicKey)) {
      expect(open.has(publicKey)).toBe(false);
    } else if (!model.destroyed.has(publicKey) && now < goodUntil) {
      const key = open.get(publicKey);
      expect(key, 'a key within policy was lost').toBeDefined();
      const pair = {
        publicKey: Buffer.from(publicKey, 'base64'),
        privateKey: key?.privateKey.reveal() ?? new Uint8Array(),
      };
      expect(sodium.openSealed(box, pair)).toEqual(plaintext);
    }
  }
  for (const key of ring.bouncerKeys) {
    const isGone = key.state === 'retired' || key.state === 'compromised';
    // A destroyed key stays destroyed, even if the clock was only temporarily ahead.
    if (isGone) model.destroyed.add(key.publicKey);
    expect('privateKey' in key).toBe(!isGone);
    if (model.destroyed.has(key.publicKey)) expect(isGone).toBe(true);
  }
  const sequence = ring.published?.sequence ?? 0;
  expect(sequence).toBeGreaterThanOrEqual(model.lastSequence);
  model.lastSequence = sequence;
}

describe('the key ring, over thousands of random histories', () => {
  it('never has two primary keys, never loses an accepted key, and never restores a destroyed key', () => {
    let lives = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
        lives += 1;
        const model: Model = {
          ring: newKeyRing(sodium, startedAt),
          now: startedAt,
          gone: new Set(),
          destroyed: new Set(),
          inFlight: [],
          lastSequence: 0,
        };
        for (const taken of steps) {
          take(model, taken);
          check(model);
        }
      }),
      { numRuns: 2000 },
    );
    expect(lives).toBe(2000);
  }, 120_000);
});
