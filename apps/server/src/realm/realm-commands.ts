import { type OutputFlags, printResult, type Terminal, withJson } from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { withServerDatabase } from '../with-database.js';
import { readRealm } from './realm-store.js';

/** `waxwing-server realm show`. */
export function addRealmCommands(realm: Command, terminal: Terminal): void {
  withJson(realm.command('show'))
    .description('print the UUID, by which the relay knows the organisation, its name and its address')
    .action(async (flags: OutputFlags) => {
      const { uuid, name, url } = await withServerDatabase(terminal, (database, { realm }) =>
        readRealm(database, realm, terminal.clock()),
      );
      printResult(terminal, flags, {
        machines: { realm_uuid: uuid, realm_name: name, realm_url: url },
        people: `${name} at ${url}\nrealm UUID: ${uuid}`,
      });
    });
}
