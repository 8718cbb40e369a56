import {
  formatTable,
  type OutputFlags,
  printResult,
  type Terminal,
  withJson,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { type AskedChangeFlags, makeChange, withConsent } from './output.js';

/** Lazy import: `--help` must not wait for it. */
const operations = () => import('../administration/vapid-operations.js');

/** Adds `apps vapid` and `apps remove-vapid`. */
export function addVapidCommands(apps: Command, terminal: Terminal): void {
  withJson(apps.command('vapid'))
    .description('print the public VAPID key of each Web Push app, which browsers subscribe with')
    .action(async (flags: OutputFlags) => {
      const { runKeyOperation } = await import('./admin-session.js');
      const machines = await runKeyOperation(terminal, (await operations()).listVapidKeys);
      const rows = machines.keys.map(({ app, public_key }) => [app, public_key]);
      const none =
        'The key ring has no VAPID key: the relay makes one for each entry of "webpush" in its apps file when it starts.';
      const people = rows.length === 0 ? none : await formatTable(terminal, { head: ['app', 'key'], rows });
      printResult(terminal, flags, { machines, people });
    });
  withConsent(apps.command('remove-vapid'))
    .description('destroy the VAPID key of a Web Push app; remove the app from the apps file first')
    .argument('<app>', 'its name in the apps file')
    .action(async (app: string, flags: AskedChangeFlags) =>
      makeChange(terminal, flags, {
        operation: (await operations()).removeVapidKey,
        form: { app },
        question:
          'Its private half is destroyed for good: every phone that subscribed with it must subscribe again. Go on?',
      }),
    );
}
