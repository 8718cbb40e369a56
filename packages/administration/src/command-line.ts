import type { DatabaseWithJobsOptions } from '@waxwing/jobs';
import type { AnyTransaction, MigrationSet } from '@waxwing/storage';

/** The part of a command-line parser that the commands need. Commander's `Command` implements it. */
export interface CommandLine {
  /** Adds a subcommand. `name` may end with the names of arguments, such as `show <id>`. */
  command(name: string): CommandLine;
  description(text: string): CommandLine;
  argument(name: string, description: string): CommandLine;
  option(flags: string, description: string): CommandLine;
  option<Value>(
    flags: string,
    description: string,
    parse: (text: string, previous: Value) => Value,
    defaultValue?: Value,
  ): CommandLine;
  action<Args extends unknown[]>(run: (...args: Args) => Promise<void>): CommandLine;
}

/** What a program provides to the `db` and `queue` commands: its database and its output functions. */
export interface AdministrationOptions {
  /** Returns the database's URL. Called only when a command runs, so that an invalid setting breaks no other command. */
  databaseUrl(): Promise<string>;
  /** Whether a setting names the database. If not, the URL is the default, a file in the current folder. */
  isDatabaseChosen(): boolean;
  /** End of the error message about a missing database: what the operator should do. */
  readonly remedyIfMissing: string;
  /** Loads the migrations. Called when a command runs, but not when it prints its help. */
  migrations(): Promise<readonly MigrationSet[]>;
  readonly clock: DatabaseWithJobsOptions['now'];
  /** Width of the terminal, in characters; `undefined` if the output is not a terminal. */
  readonly columns?: number | undefined;
  readonly isColoured?: boolean;
  /** Prints the command's result. */
  print(text: string): void;
  /** Prints a message that is not part of the result, for example to standard error. */
  say(text: string): void;
  /** Called with the location of a database that a command has changed. */
  noteChange(location: string): void;
  /** Asks for confirmation, and throws if the operator declines. `yes` confirms in advance. */
  requireConsent(question: string, yes?: boolean): Promise<void>;
  /** Creates the error that a failing command throws. `sentence` is the error's message to the operator. */
  refusal(sentence: string): Error;
  /** Records an operator's change to a job, in the transaction that makes the change. Default: not recorded. */
  recordJobAct?(transaction: AnyTransaction, action: string, jobId: string): Promise<void>;
  /** Returns the kinds of job that the program enqueues. Scheduled jobs are not included. */
  jobKinds(): Promise<readonly string[]>;
  /** Allow-list of job payload fields that hold no secret. The values of all other fields are hidden. */
  readonly shownPayloadFields: readonly string[];
}
