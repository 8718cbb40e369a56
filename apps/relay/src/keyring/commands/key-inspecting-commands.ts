import {
  type ListFlags,
  type OutputFlags,
  printListing,
  printResult,
  type TableRow,
  type Terminal,
  withJson,
  withListing,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import type { z } from 'zod';
import type { listKeys } from '../administration/list-keys.js';
import { formatSparkline } from './sparkline.js';

/** Lazy imports, so that `--help` stays fast. */
const session = () => import('./admin-session.js');
const inspect = () => import('../administration/inspect-keys.js');

/** Adds `list`, `export-public` and `verify`. */
export function addInspectingKeys(keys: Command, terminal: Terminal): void {
  withListing(keys.command('list'), { searched: 'id, public key or state' })
    .description(
      'show every key: its state, its dates, how much it is used, and since when it is safe to retire',
    )
    .action(async (text: string | undefined, flags: ListFlags) => {
      const { listKeys } = await import('../administration/list-keys.js');
      const { matchingRows } = await import('@waxwing/storage');
      const { keys, ...ring } = await (await session()).runKeyOperation(terminal, listKeys);
      const filter = { text, limit: flags.limit };
      await printListing(terminal, flags, {
        name: 'keys',
        pages: matchingRows([keys], filter, ({ id, public_key, state }) => [id, public_key, state]),
        machines: (key) => key,
        more: ring,
        head: ['key', 'state', 'age', 'accepted until', 'last used', 'last 30 days', 'safe to retire since'],
        people: (key) => formatKey(key, terminal.clock()),
      });
    });
  withJson(keys.command('export-public'))
    .description('print the keys that apps are built with: public keys only')
    .action(async (flags: OutputFlags) => {
      const machines = await (await session()).runKeyOperation(terminal, (await inspect()).exportPublic);
      const people = [
        `bouncer public key   ${machines.bouncer_public_key}`,
        `signing public key   ${machines.signing_public_key}`,
        `recovery public key  ${machines.recovery_public_key ?? 'none'}`,
      ];
      printResult(terminal, flags, { machines, people: people.join('\n') });
    });
  withJson(keys.command('verify'))
    .description('open the ring, check every key, and verify the published list as a phone does')
    .action(async (flags: OutputFlags) => {
      const machines = await (await session()).runKeyOperation(terminal, (await inspect()).verifyRing);
      const { location, opening_keys: count } = machines;
      const people = `The key ring in ${location} is sound: ${count === 1 ? '1 key opens' : `${count} keys open`} registrations.`;
      printResult(terminal, flags, { machines, people });
    });
}

type ListedKey = z.infer<typeof listKeys.answer>['keys'][number];

function formatKey(key: ListedKey, now: number): TableRow {
  return [
    key.id,
    key.state,
    `${Math.floor((now - Date.parse(key.created_at)) / 86_400_000)} d`,
    shownDate(key.accepted_until),
    shownDate(key.last_used_at),
    formatSparkline(key.registrations_per_day),
    shownDate(key.safe_to_retire_since),
  ];
}

function shownDate(instant: string | null): string {
  return instant === null ? '' : instant.slice(0, 10);
}
