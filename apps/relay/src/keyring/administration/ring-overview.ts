import { CommandError } from '@waxwing/service/command-line';
import { handleHere } from '../../admin-socket/handle-here.js';
import { type BouncerKey, currentSigningKey, type KeyRing, keyId } from '../ring/key-ring.js';
import { retire } from '../ring/key-ring-transitions.js';
import { dayMilliseconds } from '../ring/rotation-policy.js';
import { dayOf, type KeyUse } from '../uses/key-uses.js';
import { describeRecentUse, retireKey, revokeKey, rotateKeys } from './change-keys.js';
import { dashboardOperator, type KeyAdmin } from './key-admin.js';

/** A key in the ring, for the dashboard. Times are in Unix milliseconds, or `null` if they do not apply. */
export interface KeyState {
  readonly id: string;
  readonly state: 'primary' | 'open' | 'retired' | 'revoked';
  readonly created_at: number;
  readonly primary_from: number | null;
  readonly open_until: number | null;
  readonly retired_at: number | null;
  /** One entry per day for the last 30 days; today is the last entry. */
  readonly use_per_day: { readonly day: string; readonly registrations: number }[];
}

const daysShown = 30;

/** Reads the ring for the dashboard: public halves and dates only. */
export async function readRingOverview(admin: KeyAdmin) {
  const uses = await admin.readKeyUses();
  const now = admin.clock();
  return admin.keeper.look((ring) => {
    const signing = currentSigningKey(ring);
    return {
      now,
      list_expires_at: ring.published?.expiresAt ?? null,
      signing_key: { fingerprint: fingerprintOf(signing.publicKey), since: signing.createdAt },
      recovery_key: describeRecovery(ring),
      keys: ring.bouncerKeys.map((key) => describeKey(key, uses.get(key.publicKey), now)),
    };
  });
}

/** Returns whether a key can be retired now without refusing phones that still use it, and why. */
export async function judgeRetirement(
  admin: KeyAdmin,
  key: string,
): Promise<{ readonly safe: boolean; readonly explanation: string }> {
  try {
    await admin.keeper.preview((ring) => retire(ring, key, admin.clock()), { mendsDates: false });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { safe: false, explanation: error.message };
  }
  const use = await describeRecentUse(admin, key);
  const days = Math.round(admin.keeper.options.policy.unusedForMilliseconds / dayMilliseconds);
  if (use === undefined) {
    return { safe: true, explanation: `Key ${key} opened no registration in the last ${days} days.` };
  }
  return { safe: false, explanation: `${use}. Its phones are refused until they follow the key list.` };
}

/**
 * Returns functions that change the ring like the `keys` commands. The dashboard is the actor.
 * @throws CommandError.
 */
export function ringChanges(admin: KeyAdmin) {
  const operatorName = dashboardOperator;
  return {
    rotate: () => handleHere(admin, { declared: rotateKeys, form: {}, operatorName }),
    retire: (key: string, force: boolean) =>
      handleHere(admin, { declared: retireKey, form: { key, force: String(force) }, operatorName }),
    revoke: (key: string, reason: string) =>
      handleHere(admin, { declared: revokeKey, form: { key, reason }, operatorName }),
  };
}

function describeRecovery({ recoveryPublicKey }: KeyRing): { readonly fingerprint: string } | null {
  return recoveryPublicKey === undefined ? null : { fingerprint: fingerprintOf(recoveryPublicKey) };
}

function fingerprintOf(publicKey: string): string {
  return keyId(Buffer.from(publicKey, 'base64'));
}

function describeKey(key: BouncerKey, use: KeyUse | undefined, now: number): KeyState {
  const today = dayOf(now);
  const days = Array.from({ length: daysShown }, (_, index) => today - daysShown + 1 + index);
  return {
    id: key.id,
    created_at: key.createdAt,
    ...describeState(key),
    use_per_day: days.map((day) => ({
      day: new Date(day * dayMilliseconds).toISOString().slice(0, 10),
      registrations: use?.perDay.get(day) ?? 0,
    })),
  };
}

function describeState(
  key: BouncerKey,
): Pick<KeyState, 'state' | 'primary_from' | 'open_until' | 'retired_at'> {
  const none = { primary_from: null, open_until: null, retired_at: null };
  switch (key.state) {
    case 'primary':
      return { ...none, state: 'primary', primary_from: key.primarySince };
    case 'accepted':
      return { ...none, state: 'open', open_until: key.acceptedUntil };
    case 'retired':
      return { ...none, state: 'retired', retired_at: key.retiredAt };
    case 'compromised':
      return { ...none, state: 'revoked', retired_at: key.revokedAt };
  }
}
