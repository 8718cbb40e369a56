import type { JsonObject } from '@waxwing/protocol';
import { z } from 'zod';
import type { AcceptedKey, BouncerKey, KeyRing } from '../key-ring.js';
import { dayOf, type KeyUse, type KeyUses } from '../key-uses.js';
import type { RotationPolicy } from '../rotation-policy.js';
import { adminCommand } from './key-admin.js';

const daysShown = 30;

/** Everything about the ring but its private halves. Instants are ISO 8601 text. */
export const listKeys = adminCommand({
  arguments: z.strictObject({}),
  async run({ admin }) {
    const uses = await admin.readKeyUses();
    const { policy, store } = admin.keeper.options;
    const surroundings = { uses, policy, now: admin.clock(), place: store.place };
    return admin.keeper.look((ring) => describeRing(ring, surroundings));
  },
});

interface Surroundings {
  readonly uses: KeyUses;
  readonly policy: RotationPolicy;
  readonly now: number;
  readonly place: string;
}

function describeRing(ring: KeyRing, { uses, policy, now, place }: Surroundings): JsonObject {
  const { published } = ring;
  return {
    place,
    keys: ring.bouncerKeys.map((key) => describeKey(key, uses.get(key.publicKey), { policy, now })),
    signing_keys: ring.signingKeys.map(({ publicKey, createdAt, privateKey }) => ({
      public_key: publicKey,
      created_at: isoText(createdAt),
      signs: privateKey !== undefined,
    })),
    recovery_public_key: ring.recoveryPublicKey ?? null,
    token_keys: ring.tokenKeys.map(({ id, currentFrom }) => ({ id, current_from: isoText(currentFrom) })),
    key_list:
      published === undefined
        ? null
        : {
            sequence: published.sequence,
            issued_at: isoText(published.issuedAt),
            expires_at: isoText(published.expiresAt),
          },
  };
}

function describeKey(
  key: BouncerKey,
  use: KeyUse | undefined,
  { policy, now }: Pick<Surroundings, 'policy' | 'now'>,
): JsonObject {
  const today = dayOf(now);
  const perDay = Array.from({ length: daysShown }, (_, index) => {
    return use?.perDay.get(today - daysShown + 1 + index) ?? 0;
  });
  return {
    id: key.id,
    public_key: key.publicKey,
    state: key.state,
    created_at: isoText(key.createdAt),
    accepted_until: key.state === 'accepted' ? isoText(key.acceptedUntil) : null,
    retired_at: key.state === 'retired' ? isoText(key.retiredAt) : null,
    revoked_at: key.state === 'compromised' ? isoText(key.revokedAt) : null,
    last_used_at: use === undefined ? null : isoText(use.lastUsedAt),
    registrations_per_day: perDay,
    safe_to_retire_since: key.state === 'accepted' ? safeSince(key, use, { policy, now }) : null,
  };
}

/**
 * Since when retiring the key refuses nobody, as far as can be told: nothing was opened with it for as long as the policy
 * says, nor was it the primary. `null` while that is not so.
 */
function safeSince(
  key: AcceptedKey,
  use: KeyUse | undefined,
  { policy, now }: Pick<Surroundings, 'policy' | 'now'>,
): string | null {
  const since = Math.max(key.acceptedSince, use?.lastUsedAt ?? 0) + policy.unusedForMilliseconds;
  return since <= now ? isoText(since) : null;
}

export function isoText(instant: number): string {
  return new Date(instant).toISOString();
}
