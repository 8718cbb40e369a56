import {
  CommandError,
  type CommandGroup,
  requireConsent,
  type Terminal,
} from '@waxwing/service/command-line';
import type { AdministrationOptions } from './command-line.js';

/** The options of {@link AdministrationOptions} that describe the program's database and jobs. */
export type AdministeredDatabase = Pick<
  AdministrationOptions,
  | 'databaseUrl'
  | 'isDatabaseChosen'
  | 'remedyIfMissing'
  | 'migrations'
  | 'recordJobAct'
  | 'jobKinds'
  | 'shownPayloadFields'
>;

/** Returns the command groups `db` and `queue`. Each group loads its code only when one of its commands runs. */
export function administrationGroups(
  terminal: Terminal,
  administered: AdministeredDatabase,
): readonly CommandGroup[] {
  const options: AdministrationOptions = {
    ...administered,
    clock: terminal.clock,
    columns: terminal.columns,
    isColoured: terminal.isColoured ?? false,
    print: (text) => terminal.print(text),
    say: (text) => terminal.say(text),
    noteChange: (location) => terminal.noteChange?.(location),
    requireConsent: (question, yes) => requireConsent(terminal, question, yes),
    refusal: (sentence) => new CommandError(sentence),
  };
  return [
    {
      name: 'db',
      description: 'the database: migrate, export and import its tables',
      add: async (db) => (await import('./database-commands.js')).addDatabaseCommands(db, options),
    },
    {
      name: 'queue',
      description: 'pending jobs and dead jobs; dead jobs are kept for 14 days',
      add: async (queue) => (await import('./queue-commands.js')).addQueueCommands(queue, options),
    },
  ];
}
