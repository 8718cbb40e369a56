import { type ListFlags, printListing, type Terminal, withListing } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { type AskedChangeFlags, makeChange, withConsent } from './output.js';

/** Lazy import, so that `--help` stays fast. */
const operations = () => import('../administration/vapid-operations.js');

/** Adds `apps vapid` and `apps remove-vapid`. */
export function addVapidCommands(apps: Command, terminal: Terminal): void {
  withListing(apps.command('vapid'), { searched: 'app or key' })
    .description('print the public VAPID key of each Web Push app; browsers need it to subscribe')
    .action(async (text: string | undefined, flags: ListFlags) => {
      const { runKeyOperation } = await import('./admin-session.js');
      const { matchingRows } = await import('@waxwing/storage');
      const { keys } = await runKeyOperation(terminal, (await operations()).listVapidKeys);
      const filter = { text, limit: flags.limit };
      await printListing(terminal, flags, {
        name: 'keys',
        pages: matchingRows([keys], filter, ({ app, public_key }) => [app, public_key]),
        machines: (key) => key,
        head: ['app', 'key'],
        people: ({ app, public_key }) => [app, public_key],
        none:
          text === undefined
            ? 'The key ring has no VAPID key: the relay makes one for each entry of "webpush" in its apps file when it starts.'
            : `No VAPID key has "${text}" in its app or key.`,
      });
    });
  withConsent(apps.command('remove-vapid'))
    .description('destroy the VAPID key of a Web Push app; remove the app from the apps file first')
    .argument('<app>', "the app's name in the apps file")
    .action(async (app: string, flags: AskedChangeFlags) =>
      makeChange(terminal, flags, {
        operation: (await operations()).removeVapidKey,
        form: { app },
        question:
          'Its private half is destroyed permanently: every phone that subscribed with it must subscribe again. Continue?',
      }),
    );
}
