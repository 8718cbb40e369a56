import type { Terminal } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { withServerDatabase } from '../with-database.js';
import { readRealm } from './realm-store.js';

/** `waxwing-server realm show`. */
export function addRealmCommands(realm: Command, terminal: Terminal): void {
  realm
    .command('show')
    .description('print the UUID, by which the relay knows the organisation, its name and its address')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { uuid, name, url } = await withServerDatabase(terminal, (database, { realm }) =>
        readRealm(database, realm, terminal.clock()),
      );
      const text = `${name} at ${url}\nrealm UUID: ${uuid}`;
      const shown = JSON.stringify({ realm_uuid: uuid, realm_name: name, realm_url: url });
      terminal.print(json ? shown : text);
    });
}
