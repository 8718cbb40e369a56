import { CommandError } from '@waxwing/service/command-line';
import { z } from 'zod';
import type { KeyRing } from '../key-ring.js';
import { importKeys, namedKey, promote, retire, revoke, rotate } from '../key-ring-transitions.js';
import { usesSince } from '../key-uses.js';
import { parsePlainKeys } from '../plain-keys.js';
import { isConfirmed, mendDates, parseDay } from '../ring-clock.js';
import { dayMilliseconds } from '../rotation-policy.js';
import { adminCommand, changeRing, type KeyAdmin, transitionContext } from './key-admin.js';
import { isoText } from './list-keys.js';

const dryRun = z.boolean();

export const rotateKeys = adminCommand({
  arguments: z.strictObject({ dryRun }),
  run: (request, given) => {
    const context = transitionContext(request.admin);
    return changeRing(request, { ...given, action: 'rotate', transition: (ring) => rotate(ring, context) });
  },
});

/** Refuses while the key is in use, unless it is forced. */
export const retireKey = adminCommand({
  arguments: z.strictObject({ key: z.string(), force: z.boolean(), dryRun }),
  async run(request, { key, force, dryRun }) {
    if (!force) await refuseWhileUsed(request.admin, key);
    const now = request.admin.clock();
    const transition = (ring: Parameters<typeof retire>[0]) => retire(ring, key, now);
    return changeRing(request, { action: force ? 'retire --force' : 'retire', dryRun, transition });
  },
});

export const revokeKey = adminCommand({
  arguments: z.strictObject({ key: z.string(), dryRun }),
  run: (request, { key, dryRun }) => {
    const context = transitionContext(request.admin);
    const transition = (ring: Parameters<typeof revoke>[0]) => revoke(ring, key, context);
    return changeRing(request, { action: 'revoke --compromised', dryRun, transition });
  },
});

/** Adds the keys of a plain file to the ring; `primary` names the one that becomes primary, if any does. */
export const importPlainKeys = adminCommand({
  arguments: z.strictObject({ text: z.string(), primary: z.string().nullable(), dryRun }),
  run: (request, { text, primary, dryRun }) => {
    const plain = parsePlainKeys(text, request.admin.sodium);
    const context = transitionContext(request.admin);
    return changeRing(request, {
      action: 'import',
      dryRun,
      transition: (ring) => {
        const imported = importKeys(ring, plain.keys, context);
        return primary === null ? imported : promote(imported, primary, context);
      },
    });
  },
});

/** Dates again what a clock that was ahead has dated. `today` is what a person says: the clock must not be wrong again. */
export const mendRingDates = adminCommand({
  arguments: z.strictObject({ today: z.string(), dryRun }),
  run: (request, { today, dryRun }) => {
    const now = request.admin.clock();
    const { policy } = request.admin.keeper.options;
    const confirmedDay = parseDay(today);
    if (confirmedDay === undefined) {
      throw new CommandError(`--today must be a day such as 2026-11-22, but is "${today}".`);
    }
    if (!isConfirmed({ now, confirmedDay })) {
      throw new CommandError(
        `The clock says ${isoText(now)}, and you say that today is ${today}: set the clock right first.`,
      );
    }
    const transition = (ring: KeyRing) => mendDates(ring, { now, policy });
    return changeRing(request, { action: 'mend-dates', dryRun, mendsDates: true, transition });
  },
});

async function refuseWhileUsed(admin: KeyAdmin, name: string): Promise<void> {
  const key = await admin.keeper.look((ring) => namedKey(ring, name));
  const use = (await admin.readKeyUses()).get(key.publicKey);
  const { unusedForMilliseconds } = admin.keeper.options.policy;
  const windowStart = admin.clock() - unusedForMilliseconds;
  if (use === undefined || use.lastUsedAt < windowStart) return;
  const count = usesSince(use, windowStart);
  const days = Math.round(unusedForMilliseconds / dayMilliseconds);
  throw new CommandError(
    `Key ${key.id} opened ${count} registration${count === 1 ? '' : 's'} in the last ${days} days, the last at ${isoText(use.lastUsedAt)}: wait until it is unused, or add --force to refuse those phones until they follow the key list.`,
  );
}
