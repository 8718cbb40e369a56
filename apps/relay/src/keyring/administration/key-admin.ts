import { Secret } from '@waxwing/service/config';
import { booleanParameter, type Operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { z } from 'zod';
import type { Operator } from '../../admin-socket/operator.js';
import type { KeyRingKeeper } from '../live/key-ring-keeper.js';
import type { KeyRing } from '../ring/key-ring.js';
import { describeChanges } from '../ring/key-ring-changes.js';
import type { TransitionContext } from '../ring/key-ring-transitions.js';
import { wipeKeyRing } from '../ring/wipe-key-ring.js';
import type { KeyUses } from '../uses/key-uses.js';

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

/** One thing that operators ask about the ring. No answer holds a private key. */
export type KeyOperation<Parameters extends z.ZodObject, Answer extends z.ZodObject> = Operation<
  KeyAdmin,
  Operator,
  Parameters,
  Answer
>;

/** Whether a change is only to be described. */
export const dryRunParameter = booleanParameter.default(false);

/** A text that holds a private key. */
export const secretParameter = z.string().transform((text) => new Secret(text));

/** The answer of every change to the ring. */
export const changeAnswer = z.object({
  changed: z.boolean(),
  dry_run: z.boolean(),
  /** One line for each key that is concerned. */
  changes: z.array(z.string()),
});

export function transitionContext({ keeper, sodium, clock }: KeyAdmin): TransitionContext {
  const { policy } = keeper.options;
  return { now: clock(), policy, makeKeyPair: () => sodium.generateKeyPair() };
}

export interface RingChange {
  /** Who asks. */
  readonly actor: Operator;
  readonly action: string;
  readonly dryRun: boolean;
  readonly mendsDates?: boolean;
  /** Whether new keys in it are made by this program, another one each time. */
  readonly makesKeys?: boolean;
  transition(ring: KeyRing): KeyRing;
}

/** Carries out a change, or only says what it would be. The answer has the `changes`, and whether they were made. */
export async function changeRing(
  admin: KeyAdmin,
  { actor, action, dryRun, mendsDates = false, makesKeys = false, transition }: RingChange,
): Promise<z.infer<typeof changeAnswer>> {
  let changes: string[] = [];
  const noted = (ring: KeyRing) => {
    const next = transition(ring);
    changes = [...describeChanges(ring, next, { newKeysAreMadeUp: dryRun && makesKeys })];
    return next;
  };
  if (dryRun) await admin.keeper.preview(noted, { mendsDates });
  else {
    const { ring } = await admin.keeper.change(noted, { actor: actor.name, action, mendsDates });
    wipeKeyRing(ring, admin.sodium);
    await admin.takeOver();
  }
  return { changed: !dryRun && changes.length > 0, dry_run: dryRun, changes };
}
