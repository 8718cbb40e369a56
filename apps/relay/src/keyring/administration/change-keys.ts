import { CommandError } from '@waxwing/service/command-line';
import { booleanParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { operator } from '../../admin-socket/operator.js';
import { isConfirmed, mendDates, parseDay } from '../clock/ring-clock.js';
import type { KeyRing } from '../ring/key-ring.js';
import { importKeys, namedKey, promote, retire, revoke, rotate } from '../ring/key-ring-transitions.js';
import { parsePlainKeys } from '../ring/plain-keys.js';
import { dayMilliseconds } from '../ring/rotation-policy.js';
import { usesSince } from '../uses/key-uses.js';
import {
  changeAnswer,
  changeRing,
  dryRunParameter,
  type KeyAdmin,
  secretParameter,
  transitionContext,
} from './key-admin.js';
import { isoText } from './list-keys.js';

const path = '/admin/api/keys';
const maximumReasonCharacters = 200;
/** Maximum size of a plain key file. Form encoding can triple it. */
const maximumFileBytes = 1024 * 1024;

/** Creates a new primary key. The old primary key remains accepted. */
export const rotateKeys = operation({
  method: 'POST',
  path: `${path}/rotate`,
  summary: 'Creates a new primary key; the old key is still accepted.',
  actor: operator,
  parameters: z.object({ dry_run: dryRunParameter }),
  answer: changeAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin, { actor, parameters }) {
    const context = transitionContext(admin);
    const transition = (ring: KeyRing) => rotate(ring, context);
    const { dry_run: dryRun } = parameters;
    return changeRing(admin, { actor, action: 'rotate', dryRun, makesKeys: true, transition });
  },
});

/** Retires an accepted key. Refuses with BAD_REQUEST while the key is in use, unless `force` is set. */
export const retireKey = operation({
  method: 'POST',
  path: `${path}/retire`,
  summary: 'Retires an accepted key and destroys its private half.',
  actor: operator,
  parameters: z.object({
    key: z.string(),
    force: booleanParameter.default(false),
    dry_run: dryRunParameter,
  }),
  answer: changeAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin, { actor, parameters: { key, force, dry_run: dryRun } }) {
    if (!force) await refuseWhileUsed(admin, key);
    const now = admin.clock();
    const transition = (ring: KeyRing) => retire(ring, key, now);
    return changeRing(admin, { actor, action: force ? 'retire --force' : 'retire', dryRun, transition });
  },
});

/**
 * Revokes a key immediately. Phones learn of the revocation from the key list. A new key replaces a revoked primary
 * key.
 */
export const revokeKey = operation({
  method: 'POST',
  path: `${path}/revoke`,
  summary: 'Revokes a key whose private half may have been stolen; the key list notifies phones.',
  actor: operator,
  parameters: z.object({
    key: z.string(),
    reason: z.string().max(maximumReasonCharacters).default(''),
    dry_run: dryRunParameter,
  }),
  answer: changeAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin, { actor, parameters: { key, reason, dry_run: dryRun } }) {
    const context = transitionContext(admin);
    const transition = (ring: KeyRing) => revoke(ring, key, context);
    const action = 'revoke --compromised';
    return changeRing(admin, { actor, action, dryRun, reason, makesKeys: true, transition });
  },
});

/** Adds the keys in a plain file to the ring. `primary` optionally names the key that becomes primary. */
export const importPlainKeys = operation({
  method: 'POST',
  path: `${path}/import`,
  summary: 'Imports the keys of a plain file, or of a stock relay, into the key ring.',
  actor: operator,
  parameters: z.object({
    file: secretParameter,
    primary: z.string().optional(),
    dry_run: dryRunParameter,
  }),
  bodyLimitBytes: 3 * maximumFileBytes,
  answer: changeAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin, { actor, parameters: { file, primary, dry_run: dryRun } }) {
    const plain = parsePlainKeys(file.reveal(), admin.sodium);
    const context = transitionContext(admin);
    const transition = (ring: KeyRing) => {
      const imported = importKeys(ring, plain.keys, context);
      return primary === undefined ? imported : promote(imported, primary, context);
    };
    return changeRing(admin, { actor, action: 'import', dryRun, transition });
  },
});

/**
 * Resets dates that were written while the clock was ahead. The operator enters `today`, because the clock may still be
 * wrong.
 */
export const mendRingDates = operation({
  method: 'POST',
  path: `${path}/mend-dates`,
  summary: 'Corrects dates in the key ring that were set by a fast clock.',
  actor: operator,
  parameters: z.object({ today: z.string(), dry_run: dryRunParameter }),
  answer: changeAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin, { actor, parameters: { today, dry_run: dryRun } }) {
    const now = admin.clock();
    requireToday(today, now);
    const { policy } = admin.keeper.options;
    const transition = (ring: KeyRing) => mendDates(ring, { now, policy });
    return changeRing(admin, { actor, action: 'mend-dates', dryRun, mendsDates: true, transition });
  },
});

function requireToday(today: string, now: number): void {
  const confirmedDay = parseDay(today);
  if (confirmedDay === undefined) {
    throw new CommandError(`--today must be a day such as 2026-11-22, but is "${today}".`);
  }
  if (!isConfirmed({ now, confirmedDay })) {
    throw new CommandError(
      `The clock says ${isoText(now)}, but you say that today is ${today}: correct the clock first.`,
    );
  }
}

async function refuseWhileUsed(admin: KeyAdmin, name: string): Promise<void> {
  const use = await describeRecentUse(admin, name);
  if (use !== undefined) {
    throw new CommandError(
      `${use}: wait until it is unused, or add --force to refuse those phones until they follow the key list.`,
    );
  }
}

/** Describes how often a key was used recently, without a final period. Returns `undefined` for an unused key. */
export async function describeRecentUse(admin: KeyAdmin, name: string): Promise<string | undefined> {
  const key = await admin.keeper.look((ring) => namedKey(ring, name));
  const use = (await admin.readKeyUses()).get(key.publicKey);
  const { unusedForMilliseconds } = admin.keeper.options.policy;
  const windowStart = admin.clock() - unusedForMilliseconds;
  if (use === undefined || use.lastUsedAt < windowStart) return undefined;
  const count = usesSince(use, windowStart);
  const days = Math.round(unusedForMilliseconds / dayMilliseconds);
  return `Key ${key.id} opened ${count} registration${count === 1 ? '' : 's'} in the last ${days} days, the last at ${isoText(use.lastUsedAt)}`;
}
