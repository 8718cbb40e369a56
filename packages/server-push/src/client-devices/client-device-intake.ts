import type { ClientDeviceId, ProtocolError, UserId } from '@waxwing/protocol';
import {
  defaultRegistrationsPerHour,
  type NotTaken,
  rateOf,
  takeRegistrations,
} from '../registrations/registration-rate.js';
import { UserBatches } from '../registrations/user-batches.js';
import type { PushActor, ServerPushOptions } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';
import { type DeviceChange, type LockedDevice, lockDevices, storeChanges } from './change-devices.js';
import { deviceUpdate } from './client-device-state.js';
import { type Decision, decideChange } from './decide-change.js';
import { invalidDevice } from './device-refusals.js';
import { enqueueTokenForwarding } from './enqueue-token-forwarding.js';
import type { PushChange } from './push-change.js';

export type ClientDeviceIntakeOptions = Pick<
  ServerPushOptions,
  'clock' | 'database' | 'publish' | 'registrationsPerHour'
>;

interface AskedChange {
  readonly userId: UserId;
  readonly deviceId: ClientDeviceId;
  readonly change: PushChange;
  readonly session: string | null;
}

export type ChangeOutcome =
  | { readonly kind: 'changed' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly error: ProtocolError }
  | NotTaken;

type Changed = Extract<Decision, { kind: 'changed' }> & DeviceChange;
type Unchanged = Extract<Decision, { kind: 'unchanged' }> & DeviceChange;
type Decided = Extract<Decision, { kind: 'refused' }> | Changed | Unchanged;

const rate = rateOf({ user_id: 'integer', lock: 'text' });

/** Accepts keys and tokens from phones in batches, one per event-loop tick. Serializes each user's requests. */
export class ClientDeviceIntake {
  readonly #options: ClientDeviceIntakeOptions;
  readonly #batches: UserBatches<AskedChange, ChangeOutcome>;

  constructor(options: ClientDeviceIntakeOptions) {
    this.#options = options;
    this.#batches = new UserBatches(options.database, (transaction, asked) =>
      this.#write(transaction, asked),
    );
  }

  /** Stores a change and returns its outcome after the commit. @throws ProtocolError as the actor's `lockUser` does. */
  change(actor: PushActor, deviceId: ClientDeviceId, change: PushChange): Promise<ChangeOutcome> {
    return this.#batches.add(actor, {
      userId: actor.userId,
      deviceId,
      change,
      session: actor.session ?? null,
    });
  }

  /** Writes the device states, events and jobs for a batch of changes in one transaction. */
  async #write(transaction: PushTransaction, asked: readonly AskedChange[]): Promise<ChangeOutcome[]> {
    const { clock, database, publish, registrationsPerHour: perHour } = this.#options;
    const now = clock();
    const locked = await lockDevices(
      transaction,
      asked.map(({ deviceId }) => deviceId),
    );
    const devices = new Map(locked.map((device) => [device.id, device]));
    const decided = asked.map((each) => decide(devices.get(each.deviceId), each, now));
    const changes = decided.filter((each): each is Changed => each.kind === 'changed');
    const taken = await takeRegistrations(transaction, {
      rate,
      rows: changes.map(({ device }) => ({ user_id: device.user_id })),
      perHour: perHour ?? defaultRegistrationsPerHour,
      now,
    });
    const notTaken = new Map(
      changes.flatMap((each, index) => {
        const outcome = taken[index];
        return outcome === undefined || outcome.kind === 'taken' ? [] : [[each, outcome] as const];
      }),
    );
    const allowed = changes.filter((each) => !notTaken.has(each));
    const moved = decided.filter((each) => each.kind === 'unchanged' && each.session !== each.device.session);
    await storeChanges(transaction, [...allowed, ...(moved as Unchanged[])], now);
    for (const { device, columns, isToForward } of allowed) {
      if (!isToForward) continue;
      const key = { id: device.id, generation: columns.generation ?? device.generation };
      await enqueueTokenForwarding(
        database,
        transaction,
        { key, waitingBefore: Number(device.waiting) },
        now,
      );
    }
    await publish(
      transaction,
      allowed.map(({ device, seen }) => deviceUpdate(device, seen)),
    );
    return decided.map((each) => {
      if (each.kind === 'refused') return each;
      if (each.kind === 'unchanged') return { kind: 'unchanged' };
      return notTaken.get(each) ?? { kind: 'changed' };
    });
  }
}

function decide(
  device: LockedDevice | undefined,
  { change, session, userId }: AskedChange,
  now: number,
): Decided {
  if (device?.user_id !== userId) return { kind: 'refused', error: invalidDevice() };
  const decision = decideChange(device, change, now);
  if (decision.kind === 'refused') return decision;
  return { columns: {}, ...decision, device, session };
}
