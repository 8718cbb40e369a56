import { resolve } from 'node:path';
import { CommandError, printResult, requireConsent, type Terminal } from '@waxwing/service/command-line';
import {
  type MoveKeyRingOptions,
  moveKeyRing,
  removeMovedKeyRing,
  requireOtherLocation,
} from '../live/move-key-ring.js';
import { type KeyRingLocation, readKeyRingEnvironmentAlone } from '../storage/key-ring-configuration.js';
import { keyRingStore, movedKeyRingStore, settingOf } from '../storage/key-ring-location.js';
import { actorName, withKeyAdmin } from './admin-session.js';
import type { MoveFlags } from './ring-flags.js';

const filePrefix = 'file:';

/** `keys move`. */
export async function moveRing(terminal: Terminal, flags: MoveFlags): Promise<void> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const location = parseLocation(flags.to);
  const [setting, before] = [settingOf(location), settingOf(configuration.location)];
  if (setting === before) {
    throw new CommandError(`RELAY_KEY_RING is already ${flags.to}: there is nothing to move.`);
  }
  await withKeyAdmin(terminal, configuration, async ({ keeper }, database) => {
    const options: MoveKeyRingOptions = {
      keeper,
      from: { store: keeper.options.store, setting: before },
      copy: movedKeyRingStore(configuration.location, database),
      to: { store: keyRingStore(location, database), setting },
      actor: actorName(),
    };
    requireOtherLocation(options);
    const { copy, from, to } = options;
    if (flags.dryRun) {
      const people = `This would move the key ring from ${from.store.location} to ${to.store.location}.`;
      return printResult(terminal, flags, { machines: { moved: false, dry_run: true }, people });
    }
    if (flags.removeOld) {
      const question = `The ring will be only in ${to.store.location}, without a copy in ${copy.location}. Continue?`;
      await requireConsent(terminal, question, flags.yes);
    }
    const moved = await moveKeyRing(options);
    const removed = flags.removeOld === true && (await removeMovedKeyRing(options));
    const kept = flags.removeOld
      ? `No copy is left in ${copy.location}.`
      : `An encrypted copy is in ${copy.location}: --remove-old destroys it.`;
    const needs =
      location.kind === 'database'
        ? [
            'A ring in the database also needs RELAY_KEY_AUDIT_LOG and RELAY_KEY_ADMIN_SOCKET, each set to a path.',
          ]
        : [];
    const people = [
      moved
        ? `The key ring is in ${to.store.location}.`
        : `The key ring was already in ${to.store.location}.`,
      `Set RELAY_KEY_RING=${setting} and restart every relay of this ring: until then they keep their current ring, and cannot change it.`,
      ...needs,
      kept,
    ].join('\n');
    const machines = { moved, dry_run: false, removed_old: removed, key_ring: setting };
    printResult(terminal, flags, { machines, people });
  });
}

function parseLocation(to: string): KeyRingLocation {
  if (to === 'database') return { kind: 'database' };
  if (to.startsWith(filePrefix) && to.length > filePrefix.length) {
    return { kind: 'file', path: resolve(to.slice(filePrefix.length)) };
  }
  throw new CommandError(`"${to}" is not a location for a key ring: use database, or ${filePrefix}PATH.`);
}
