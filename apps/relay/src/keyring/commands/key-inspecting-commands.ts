import {
  formatTable,
  type OutputFlags,
  printResult,
  type Terminal,
  withJson,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import type { z } from 'zod';
import type { listKeys } from '../administration/list-keys.js';
import { formatSparkline } from './sparkline.js';

/** Lazy imports: `--help` must not wait for them. */
const session = () => import('./admin-session.js');
const inspect = () => import('../administration/inspect-keys.js');

/** Adds `list`, `export-public` and `verify`. */
export function addInspectingKeys(keys: Command, terminal: Terminal): void {
  withJson(keys.command('list'))
    .description(
      'show every key: its state, its dates, how much it is used, and since when it is safe to retire',
    )
    .action(async (flags: OutputFlags) => {
      const { listKeys } = await import('../administration/list-keys.js');
      const machines = await (await session()).runKeyOperation(terminal, listKeys);
      printResult(terminal, flags, {
        machines,
        people: await formatKeys(terminal, machines),
      });
    });
  withJson(keys.command('export-public'))
    .description('print what apps are built with: public keys only')
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

function formatKeys(terminal: Terminal, { keys }: z.infer<typeof listKeys.answer>): Promise<string> {
  const now = terminal.clock();
  const head = ['key', 'state', 'age', 'accepted until', 'last used', 'last 30 days', 'safe to retire since'];
  const rows = keys.map((key) => [
    key.id,
    key.state,
    `${Math.floor((now - Date.parse(key.created_at)) / 86_400_000)} d`,
    shownDate(key.accepted_until),
    shownDate(key.last_used_at),
    formatSparkline(key.registrations_per_day),
    shownDate(key.safe_to_retire_since),
  ]);
  return formatTable(terminal, { head, rows });
}

function shownDate(instant: string | null): string {
  return instant === null ? '' : instant.slice(0, 10);
}
