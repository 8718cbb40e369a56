import { resolve } from 'node:path';
import { CommandError, printResult, requireConsent, type Terminal } from '@waxwing/service/command-line';
import {
  type MoveKeyRingOptions,
  moveKeyRing,
  removeMovedKeyRing,
  requireOtherPlace,
} from '../live/move-key-ring.js';
import { type KeyRingPlace, readKeyRingEnvironmentAlone } from '../storage/key-ring-configuration.js';
import { keyRingStore, movedKeyRingStore, settingOf } from '../storage/key-ring-place.js';
import { actorName, withKeyAdmin } from './admin-session.js';
import type { MoveFlags } from './ring-flags.js';

const filePrefix = 'file:';

/** `keys move`. */
export async function moveRing(terminal: Terminal, flags: MoveFlags): Promise<void> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const place = parsePlace(flags.to);
  const [setting, before] = [settingOf(place), settingOf(configuration.place)];
  if (setting === before) {
    throw new CommandError(`RELAY_KEY_RING names ${flags.to} already: there is nothing to move.`);
  }
  await withKeyAdmin(terminal, configuration, async ({ keeper }, database) => {
    const options: MoveKeyRingOptions = {
      keeper,
      from: { store: keeper.options.store, setting: before },
      copy: movedKeyRingStore(configuration.place, database),
      to: { store: keyRingStore(place, database), setting },
      actor: actorName(),
    };
    requireOtherPlace(options);
    const { copy, from, to } = options;
    if (flags.dryRun) {
      const people = `This would move the key ring from ${from.store.place} to ${to.store.place}.`;
      return printResult(terminal, flags, { machines: { moved: false, dry_run: true }, people });
    }
    if (flags.removeOld) {
      const question = `The ring will be in ${to.store.place} alone, and no copy of it in ${copy.place}. Go on?`;
      await requireConsent(terminal, question, flags.yes);
    }
    const moved = await moveKeyRing(options);
    const removed = flags.removeOld === true && (await removeMovedKeyRing(options));
    const kept = flags.removeOld
      ? `No copy is left in ${copy.place}.`
      : `A copy, as encrypted as before, is in ${copy.place}: --remove-old destroys it.`;
    const needs =
      place.kind === 'database'
        ? ['A ring in the database needs RELAY_KEY_AUDIT_LOG and RELAY_KEY_ADMIN_SOCKET too, a path each.']
        : [];
    const people = [
      moved ? `The key ring is in ${to.store.place}.` : `The key ring was in ${to.store.place} already.`,
      `Set RELAY_KEY_RING=${setting} and restart every relay of this ring: until then they keep the ring that they have, and cannot change it.`,
      ...needs,
      kept,
    ].join('\n');
    const machines = { moved, dry_run: false, removed_old: removed, key_ring: setting };
    printResult(terminal, flags, { machines, people });
  });
}

function parsePlace(to: string): KeyRingPlace {
  if (to === 'database') return { kind: 'database' };
  if (to.startsWith(filePrefix) && to.length > filePrefix.length) {
    return { kind: 'file', path: resolve(to.slice(filePrefix.length)) };
  }
  throw new CommandError(`"${to}" is no place for a key ring: say database, or ${filePrefix}PATH.`);
}
