import {
  CommandError,
  type CommandGroup,
  requireConsent,
  type Terminal,
} from '@waxwing/service/command-line';
import type { AdministrationOptions } from './command-line.js';

/** What a program says of its database. */
export type Administered = Pick<AdministrationOptions, 'databaseUrl' | 'migrations' | 'shownPayloadFields'>;

/** The groups `db` and `queue`. They are loaded only when one of them is typed. */
export function administrationGroups(
  terminal: Terminal,
  administered: Administered,
): readonly CommandGroup[] {
  const options: AdministrationOptions = {
    ...administered,
    clock: terminal.clock,
    columns: terminal.columns,
    isColoured: terminal.isColoured ?? false,
    print: (text) => terminal.print(text),
    say: (text) => terminal.say(text),
    requireConsent: (question, yes) => requireConsent(terminal, question, yes),
    refusal: (sentence) => new CommandError(sentence),
  };
  return [
    {
      name: 'db',
      description: 'the database: its tables, and moving it to another one',
      add: async (db) => (await import('./database-commands.js')).addDatabaseCommands(db, options),
    },
    {
      name: 'queue',
      description: 'jobs that wait, and those that were given up, which are kept for 14 days',
      add: async (queue) => (await import('./queue-commands.js')).addQueueCommands(queue, options),
    },
  ];
}
