import {
  type ListFlags,
  type OutputFlags,
  printListing,
  printResult,
  type Terminal,
  withJson,
  withListing,
} from '@waxwing/service/command-line';
import type { Command } from 'commander';
import { withServerDatabase } from '../../with-database.js';

/** Adds the commands `waxwing-server realm show|settings|set`. */
export function addRealmCommands(realm: Command, terminal: Terminal): void {
  addShowCommand(realm, terminal);
  addSettingsCommand(realm, terminal);
  addSetCommand(realm, terminal);
}

function addShowCommand(realm: Command, terminal: Terminal): void {
  withJson(realm.command('show'))
    .description("print the organization's name, its URL, and the UUID that identifies it at the relay")
    .action(async (flags: OutputFlags) => {
      // Imported lazily, here and below, so that `--help` stays fast.
      const { readRealm } = await import('./realm-store.js');
      const { uuid, name, url } = await withServerDatabase(terminal, (database, { realm }) =>
        readRealm(database, realm, terminal.clock()),
      );
      printResult(terminal, flags, {
        machines: { realm_uuid: uuid, realm_name: name, realm_url: url },
        people: `${name} at ${url}\nrealm UUID: ${uuid}`,
      });
    });
}

function addSettingsCommand(realm: Command, terminal: Terminal): void {
  withListing(realm.command('settings'), { searched: 'name' })
    .description('print the settings of the organization, and the feature level that introduced each')
    .action(async (text: string | undefined, flags: ListFlags) => {
      const { describeSettings } = await import('./set-realm-setting.js');
      const { matchingRows } = await import('@waxwing/storage');
      const settings = await withServerDatabase(terminal, ({ db }) => describeSettings(db));
      await printListing(terminal, flags, {
        name: 'settings',
        pages: matchingRows([settings], { text, limit: flags.limit }, ({ name }) => [name]),
        machines: ({ defaultValue, changedBy, ...setting }) => {
          return { ...setting, default: defaultValue, changed_by: changedBy };
        },
        head: ['name', 'value', 'default', 'changed by', 'since'],
        people: ({ name, value, defaultValue, changedBy, since }) => {
          return [name, JSON.stringify(value), JSON.stringify(defaultValue), `${changedBy}s`, since];
        },
      });
    });
}

function addSetCommand(realm: Command, terminal: Terminal): void {
  withJson(realm.command('set'))
    .description('change a setting of the organization; clients get an event')
    .argument('<name>', 'the name of the setting, as printed by waxwing-server realm settings')
    .argument(
      '<value>',
      'the value; for a permission, the name or id of a group, or JSON such as \'{"direct_members":[9],"direct_subgroups":[]}\'',
    )
    .action(async (name: string, value: string, flags: OutputFlags) => {
      const { asCommandError } = await import('./as-command-error.js');
      const { setRealmSetting } = await import('./set-realm-setting.js');
      const isChanged = await withServerDatabase(terminal, (database, { realm }) =>
        setRealmSetting({ database, clock: terminal.clock, realm }, { name, text: value }).catch(
          asCommandError,
        ),
      );
      printResult(terminal, flags, {
        machines: { name, changed: isChanged },
        people: isChanged ? `Set ${name}.` : `${name} already has this value: nothing was changed.`,
      });
    });
}
