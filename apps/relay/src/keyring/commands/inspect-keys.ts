import type { Terminal } from '@waxwing/service/command-line';
import CliTable from 'cli-table3';
import type { Command } from 'commander';
import { z } from 'zod';
import { askDesk } from './desk-session.js';
import { type OutputFlags, printResult, withJson } from './output.js';
import { formatSparkline } from './sparkline.js';

const listed = z.object({
  keys: z.array(
    z.object({
      id: z.string(),
      state: z.string(),
      created_at: z.string(),
      accepted_until: z.string().nullable(),
      last_used_at: z.string().nullable(),
      registrations_per_day: z.array(z.number()),
      safe_to_retire_since: z.string().nullable(),
    }),
  ),
});

/** Adds `list`, `export-public` and `verify`. */
export function addInspectingKeys(keys: Command, terminal: Terminal): void {
  withJson(keys.command('list'))
    .description(
      'show every key: its state, its dates, how much it is used, and since when it is safe to retire',
    )
    .action(async (flags: OutputFlags) => {
      const machines = await askDesk(terminal, 'list', {});
      printResult(terminal, flags, {
        machines,
        people: formatTable(listed.parse(machines), terminal.clock()),
      });
    });
  withJson(keys.command('export-public'))
    .description('print what apps are built with: public keys only')
    .action(async (flags: OutputFlags) => {
      const machines = await askDesk(terminal, 'export-public', {});
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
      const machines = await askDesk(terminal, 'verify', {});
      const people = `The key ring in ${machines.place} is sound: ${machines.opening_keys} keys open registrations.`;
      printResult(terminal, flags, { machines, people });
    });
}

function formatTable({ keys }: z.infer<typeof listed>, now: number): string {
  const table = new CliTable({
    head: ['key', 'state', 'age', 'accepted until', 'last used', 'last 30 days', 'safe to retire since'],
    style: { head: [], border: [] },
  });
  for (const key of keys) {
    const days = Math.floor((now - Date.parse(key.created_at)) / 86_400_000);
    table.push([
      key.id,
      key.state,
      `${days} d`,
      shownDate(key.accepted_until),
      shownDate(key.last_used_at),
      formatSparkline(key.registrations_per_day),
      shownDate(key.safe_to_retire_since),
    ]);
  }
  return table.toString();
}

function shownDate(instant: string | null): string {
  return instant === null ? '' : instant.slice(0, 10);
}
