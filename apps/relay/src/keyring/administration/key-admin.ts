import { Secret } from '@waxwing/service/config';
import { booleanParameter, type Operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { z } from 'zod';
import type { Act } from '../../acts/record-act.js';
import type { Operator } from '../../admin-socket/operator.js';
import type { KeyRingKeeper } from '../live/key-ring-keeper.js';
import type { KeyRing } from '../ring/key-ring.js';
import { describeChanges } from '../ring/key-ring-changes.js';
import type { TransitionContext } from '../ring/key-ring-transitions.js';
import { wipeKeyRing } from '../ring/wipe-key-ring.js';
import type { KeyUses } from '../uses/key-uses.js';

/** Context of the key operations. They run in the running relay, or in the command's process if no relay is running. */
export interface KeyAdmin {
  readonly keeper: KeyRingKeeper;
  readonly sodium: Sodium;
  readonly clock: Clock;
  /** Reads how often each key was used, by public key. */
  readKeyUses(): Promise<KeyUses>;
  /** Records a change to the ring in the operators' audit log. */
  recordAct(act: Act): Promise<void>;
  /** Makes the running relay load the change; does nothing if no relay is running. */
  takeOver(): Promise<void>;
}

/** An admin operation on the key ring. Its response contains no private keys. */
export type KeyOperation<Parameters extends z.ZodObject, Answer extends z.ZodObject> = Operation<
  KeyAdmin,
  Operator,
  Parameters,
  Answer
>;

/** Whether to describe the change without making it. */
export const dryRunParameter = booleanParameter.default(false);

/** A parameter that contains a private key. */
export const secretParameter = z.string().transform((text) => new Secret(text));

/** Response to every change to the ring. */
export const changeAnswer = z.object({
  changed: z.boolean(),
  dry_run: z.boolean(),
  /** One line per affected key. */
  changes: z.array(z.string()),
});

export function transitionContext({ keeper, sodium, clock }: KeyAdmin): TransitionContext {
  const { policy } = keeper.options;
  return { now: clock(), policy, makeKeyPair: () => sodium.generateKeyPair() };
}

export interface RingChange {
  /** The operator who makes the change. */
  readonly actor: Operator;
  readonly action: string;
  readonly dryRun: boolean;
  /** The operator's reason. */
  readonly reason?: string;
  readonly mendsDates?: boolean;
  /** Whether the transition generates new keys, which differ from run to run. */
  readonly makesKeys?: boolean;
  transition(ring: KeyRing): KeyRing;
}

/** Changes the ring; a dry run only describes the change. Returns the changes, and whether they were made. */
export async function changeRing(
  admin: KeyAdmin,
  { actor, action, dryRun, reason = '', mendsDates = false, makesKeys = false, transition }: RingChange,
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
    await admin.recordAct(describeAct(actor, { action, detail: [reason, ...changes], at: admin.clock() }));
    await admin.takeOver();
  }
  return { changed: !dryRun && changes.length > 0, dry_run: dryRun, changes };
}

/** Operator name for actions in the dashboard. */
export const dashboardOperator = 'dashboard';

function describeAct(
  { name }: Operator,
  {
    action,
    detail,
    at,
  }: { readonly action: string; readonly detail: readonly string[]; readonly at: number },
): Act {
  const isDashboard = name === dashboardOperator;
  const texts = isDashboard ? detail : [`by ${name}`, ...detail];
  return {
    actor: isDashboard ? 'dashboard' : 'command line',
    action: `keys ${action}`,
    subject: 'key ring',
    detail: texts.filter((text) => text !== '').join('; '),
    at,
  };
}
