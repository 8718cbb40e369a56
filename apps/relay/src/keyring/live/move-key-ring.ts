import { CommandError } from '@waxwing/service/command-line';
import { formatMoveMark, parseMoveMark } from '../storage/key-ring-location.js';
import type { KeyRingStore } from '../storage/key-ring-store.js';
import type { KeyRingKeeper } from './key-ring-keeper.js';

/** Source or target of a move. */
interface RingLocation {
  readonly store: KeyRingStore;
  /** The location as a value of RELAY_KEY_RING. */
  readonly setting: string;
}

export interface MoveKeyRingOptions {
  /** Keeper of the ring at the source. */
  readonly keeper: KeyRingKeeper;
  readonly from: RingLocation;
  /** Store that keeps a copy of the moved ring. */
  readonly copy: KeyRingStore;
  readonly to: RingLocation;
  /** Name for the audit log. */
  readonly actor: string;
}

/**
 * Moves the encrypted ring. Never leaves two copies that can be changed: it copies the ring next to the source,
 * replaces the source with a move marker, writes the ring to the target, and reads it back. A relay that still uses the
 * source keeps its ring in memory, reports the new location, and cannot change the ring. Resumable: the next call
 * continues an interrupted move. Returns `false` if the ring was already moved.
 * @throws CommandError or ConfigurationError if the move is not possible; the ring then stays at the source.
 */
export async function moveKeyRing(options: MoveKeyRingOptions): Promise<boolean> {
  requireOtherLocation(options);
  for (;;) {
    const state = await findRing(options);
    if (state.kind === 'moved') return false;
    const { stored, isTaken } = state;
    await options.keeper.open(stored);
    await requireRoom(options, stored);
    await keepCopy(options, stored);
    // Retry if `transfer` returns false: another process changed the ring after it was read.
    if (await audited(options, () => transfer(options, stored, isTaken))) return true;
  }
}

/**
 * Destroys the copy that a move kept. Returns `false` if there is no copy.
 * @throws CommandError or ConfigurationError if the target does not contain that ring; the copy is then kept.
 */
export async function removeMovedKeyRing(options: MoveKeyRingOptions): Promise<boolean> {
  requireOtherLocation(options);
  const { copy } = options;
  const kept = await copy.read();
  if (kept === undefined) return false;
  await requireArrived(options, kept);
  if (!(await copy.remove(kept))) return false;
  try {
    await requireArrived(options, kept);
  } catch (error) {
    await copy.replace(undefined, kept);
    throw error;
  }
  return true;
}

/** @throws CommandError if the target is the same location as the source or the copy, even through a different path. */
export function requireOtherLocation({ from, copy, to }: MoveKeyRingOptions): void {
  const target = new Set(to.store.identities());
  const isTarget = (store: KeyRingStore) => store.identities().some((identity) => target.has(identity));
  if (isTarget(from.store)) {
    throw new CommandError(
      `The key ring is already in ${to.store.location}, which is ${from.store.location}: there is nothing to move.`,
    );
  }
  if (isTarget(copy)) {
    throw new CommandError(
      `The key ring cannot be moved to ${to.store.location}, because --remove-old destroys the copy there: use another file.`,
    );
  }
}

type RingState =
  | { readonly kind: 'moved' }
  | { readonly kind: 'here'; readonly stored: string; readonly isTaken: boolean };

async function findRing(options: MoveKeyRingOptions): Promise<RingState> {
  const { from, copy, to } = options;
  const stored = await from.store.read();
  if (stored === undefined) throw new CommandError(`There is no key ring in ${from.store.location} to move.`);
  const movedTo = parseMoveMark(stored);
  if (movedTo === undefined) return { kind: 'here', stored, isTaken: false };
  if (movedTo !== to.setting) {
    throw new CommandError(
      `The key ring was moved from ${from.store.location} to ${movedTo}: set RELAY_KEY_RING=${movedTo}, and move it from there.`,
    );
  }
  const there = await to.store.read();
  const kept = await copy.read();
  if (there !== undefined && parseMoveMark(there) === undefined) {
    if (kept !== undefined) await requireSuccessor(options, kept, there);
    return { kind: 'moved' };
  }
  if (kept === undefined) {
    throw new CommandError(
      `The key ring was moved from ${from.store.location} to ${to.store.location}, but is no longer there: restore it from a backup.`,
    );
  }
  return { kind: 'here', stored: kept, isTaken: true };
}

async function requireArrived(options: MoveKeyRingOptions, kept: string): Promise<void> {
  const { copy, to } = options;
  const there = await to.store.read();
  if (there === undefined) {
    throw new CommandError(
      `There is no key ring in ${to.store.location}: the copy of it in ${copy.location} was not destroyed.`,
    );
  }
  await requireSuccessor(options, kept, there);
}

/**
 * Requires that the ring at the target descends from the moved ring: it contains all of the moved ring's bouncer keys,
 * including retired keys.
 */
async function requireSuccessor(
  { keeper, copy, to }: MoveKeyRingOptions,
  kept: string,
  there: string,
): Promise<void> {
  if (await isSuccessor(keeper, kept, there)) return;
  throw new CommandError(
    `The key ring in ${to.store.location} is not the one that was moved there, which is in ${copy.location}: nothing was changed. Move the wrong one elsewhere, then repeat the command.`,
  );
}

async function isSuccessor(keeper: KeyRingKeeper, former: string, later: string): Promise<boolean> {
  const after = new Set((await keeper.open(later)).bouncerKeys.map(({ publicKey }) => publicKey));
  const { bouncerKeys } = await keeper.open(former);
  return bouncerKeys.every(({ publicKey }) => after.has(publicKey));
}

async function requireRoom({ from, to }: MoveKeyRingOptions, stored: string): Promise<void> {
  const there = await to.store.read();
  if (there === undefined || there === stored || parseMoveMark(there) !== undefined) return;
  throw new CommandError(
    `The key rings in ${to.store.location} and ${from.store.location} differ: nothing was changed. Determine which of them opens your devices' tokens ("keys verify" checks each, with RELAY_KEY_RING set), and move the other one elsewhere first.`,
  );
}

async function keepCopy({ keeper, copy }: MoveKeyRingOptions, stored: string): Promise<void> {
  const before = await copy.read();
  if (before !== undefined) await requireFormerCopy({ keeper, copy }, before, stored);
  if (before !== stored) await copy.replace(before, stored);
  await requireWritten(copy, stored);
}

/**
 * Requires that an existing copy was left by an earlier move of this ring and may be overwritten. Any other ring may be
 * the only copy of its keys.
 */
async function requireFormerCopy(
  { keeper, copy }: Pick<MoveKeyRingOptions, 'keeper' | 'copy'>,
  before: string,
  stored: string,
): Promise<void> {
  const refusal = `There is another key ring in ${copy.location}, where the copy of this one would be kept: nothing was changed. Move it elsewhere first.`;
  let isFormer: boolean;
  try {
    isFormer = await isSuccessor(keeper, before, stored);
  } catch (cause) {
    throw new CommandError(refusal, { cause });
  }
  if (!isFormer) throw new CommandError(refusal);
}

/** Moves the ring from the source to the target. Returns `false` if the ring changed after it was read. */
async function transfer(
  { from, to }: MoveKeyRingOptions,
  stored: string,
  isTaken: boolean,
): Promise<boolean> {
  const mark = formatMoveMark(to.setting);
  if (!isTaken && !(await from.store.replace(stored, mark))) return false;
  try {
    const there = await to.store.read();
    if (there !== stored && !(await to.store.replace(there, stored))) {
      throw new CommandError(`Another process has just written to ${to.store.location}: nothing was moved.`);
    }
    await requireWritten(to.store, stored);
  } catch (error) {
    await from.store.replace(mark, stored);
    throw error;
  }
  return true;
}

/** Verifies a write by reading it back. */
async function requireWritten(store: KeyRingStore, expected: string): Promise<void> {
  if ((await store.read()) !== expected) {
    throw new CommandError(`The text in ${store.location} differs from the text that was written to it.`);
  }
}

async function audited(
  { keeper, from, to, actor }: MoveKeyRingOptions,
  act: () => Promise<boolean>,
): Promise<boolean> {
  const { audit, clock } = keeper.options;
  const entry = {
    actor,
    action: 'move',
    changes: [`moved from ${from.store.location} to ${to.store.location}`],
  };
  await audit.append({ at: clock(), ...entry, phase: 'begun' });
  const done = await act();
  if (done) await audit.append({ at: clock(), ...entry, phase: 'done' });
  return done;
}
