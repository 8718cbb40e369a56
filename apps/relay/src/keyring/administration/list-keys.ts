import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { operator } from '../../admin-socket/operator.js';
import type { AcceptedKey, BouncerKey, KeyRing } from '../ring/key-ring.js';
import type { RotationPolicy } from '../ring/rotation-policy.js';
import { dayOf, type KeyUse, type KeyUses } from '../uses/key-uses.js';
import type { KeyAdmin } from './key-admin.js';

const daysShown = 30;

const listedKey = z.object({
  id: z.string(),
  public_key: z.string(),
  state: z.enum(['primary', 'accepted', 'retired', 'compromised']),
  created_at: z.string(),
  accepted_until: z.string().nullable(),
  retired_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  last_used_at: z.string().nullable(),
  /** One count per day for the last 30 days; today is the last entry. */
  registrations_per_day: z.array(z.number().int()),
  safe_to_retire_since: z.string().nullable(),
});

const ringAnswer = z.object({
  location: z.string(),
  keys: z.array(listedKey),
  signing_keys: z.array(z.object({ public_key: z.string(), created_at: z.string(), signs: z.boolean() })),
  recovery_public_key: z.string().nullable(),
  token_keys: z.array(z.object({ id: z.string(), current_from: z.string() })),
  key_list: z
    .object({ sequence: z.number().int(), issued_at: z.string(), expires_at: z.string() })
    .nullable(),
});

/** Lists the whole ring except private halves. Times are ISO 8601 strings. */
export const listKeys = operation({
  method: 'GET',
  path: '/admin/api/keys',
  summary: 'Returns the key ring without private keys: states, dates and use of each key.',
  actor: operator,
  parameters: noParameters,
  answer: ringAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin) {
    const uses = await admin.readKeyUses();
    const { policy, store } = admin.keeper.options;
    const related = { uses, policy, now: admin.clock(), location: store.location };
    return admin.keeper.look((ring) => describeRing(ring, related));
  },
});

interface RelatedRecords {
  readonly uses: KeyUses;
  readonly policy: RotationPolicy;
  readonly now: number;
  readonly location: string;
}

function describeRing(
  ring: KeyRing,
  { uses, policy, now, location }: RelatedRecords,
): z.infer<typeof ringAnswer> {
  const { published } = ring;
  return {
    location,
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
  { policy, now }: Pick<RelatedRecords, 'policy' | 'now'>,
): z.infer<typeof listedKey> {
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
 * Returns the time since which a key has been safe to retire: throughout the policy's unused period, it opened no
 * registration and was not primary. Returns `null` if it is not safe yet.
 */
function safeSince(
  key: AcceptedKey,
  use: KeyUse | undefined,
  { policy, now }: Pick<RelatedRecords, 'policy' | 'now'>,
): string | null {
  const since = Math.max(key.acceptedSince, use?.lastUsedAt ?? 0) + policy.unusedForMilliseconds;
  return since <= now ? isoText(since) : null;
}

export function isoText(instant: number): string {
  return new Date(instant).toISOString();
}
