import type { JsonObject } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import type { z } from 'zod';
import type { KeyRing } from '../key-ring.js';
import { describeChanges } from '../key-ring-changes.js';
import type { KeyRingKeeper } from '../key-ring-keeper.js';
import type { TransitionContext } from '../key-ring-transitions.js';
import type { KeyUses } from '../key-uses.js';
import { wipeKeyRing } from '../wipe-key-ring.js';

/** What the commands about keys work with, in the relay that runs or, where none does, in the command itself. */
export interface KeyAdmin {
  readonly keeper: KeyRingKeeper;
  readonly sodium: Sodium;
  readonly clock: Clock;
  /** How often each key was used, by public key. */
  readKeyUses(): Promise<KeyUses>;
  /** Lets the running relay take over what was changed; does nothing where none runs. */
  takeOver(): Promise<void>;
}

export interface AdminRequest {
  readonly admin: KeyAdmin;
  /** Who asks; for the audit log. */
  readonly actor: string;
}

/** One thing that can be done to the ring. Arguments and answer are JSON, without any private key in the answer. */
export interface AdminCommand<Arguments extends z.ZodType = z.ZodType> {
  readonly arguments: Arguments;
  /** @throws CommandError when it must not be done; nothing is changed then. */
  run(request: AdminRequest, given: z.infer<Arguments>): Promise<JsonObject>;
}

export function adminCommand<Arguments extends z.ZodType>(
  command: AdminCommand<Arguments>,
): AdminCommand<Arguments> {
  return command;
}

export function transitionContext({ keeper, sodium, clock }: KeyAdmin): TransitionContext {
  const { policy } = keeper.options;
  return { now: clock(), policy, makeKeyPair: () => sodium.generateKeyPair() };
}

export interface RingChange {
  readonly action: string;
  readonly dryRun: boolean;
  readonly mendsDates?: boolean;
  transition(ring: KeyRing): KeyRing;
}

/** Carries out a change, or only says what it would be. The answer has the `changes`, and whether they were made. */
export async function changeRing(
  { admin, actor }: AdminRequest,
  { action, dryRun, mendsDates = false, transition }: RingChange,
): Promise<JsonObject> {
  let changes: readonly string[] = [];
  const noted = (ring: KeyRing) => {
    const next = transition(ring);
    changes = describeChanges(ring, next);
    return next;
  };
  if (dryRun) await admin.keeper.preview(noted, { mendsDates });
  else {
    const { ring } = await admin.keeper.change(noted, { actor, action, mendsDates });
    wipeKeyRing(ring, admin.sodium);
    await admin.takeOver();
  }
  return { changed: !dryRun && changes.length > 0, dry_run: dryRun, changes };
}
