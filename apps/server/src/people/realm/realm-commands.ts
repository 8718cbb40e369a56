import {
  formatTable,
  type OutputFlags,
  printResult,
  type Terminal,
  withJson,
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
      // Imported lazily, here and below, so that help starts fast.
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
  withJson(realm.command('settings'))
    .description('print the settings of the organization, and the feature level that introduced each')
    .action(async (flags: OutputFlags) => {
      const { describeSettings } = await import('./set-realm-setting.js');
      const settings = await withServerDatabase(terminal, ({ db }) => describeSettings(db));
      const rows = settings.map(({ name, value, defaultValue, changedBy, since }) => [
        name,
        JSON.stringify(value),
        JSON.stringify(defaultValue),
        `${changedBy}s`,
        since,
      ]);
      printResult(terminal, flags, {
        machines: {
          settings: settings.map(({ name, value, defaultValue, changedBy, since }) => ({
            name,
            value,
            default: defaultValue,
            changed_by: changedBy,
            since,
          })),
        },
        people: await formatTable(terminal, {
          head: ['name', 'value', 'default', 'changed by', 'since'],
          rows,
        }),
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
