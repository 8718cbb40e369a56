import type { DatabaseWithJobsOptions } from '@waxwing/jobs';
import type { AnyTransaction, MigrationSet } from '@waxwing/storage';

/** The part of a command-line parser that the commands need. Commander's `Command` implements it. */
export interface CommandLine {
  /** `name` may end with the names of arguments, such as `show <id>`. */
  command(name: string): CommandLine;
  description(text: string): CommandLine;
  option(flags: string, description: string): CommandLine;
  action<Args extends unknown[]>(run: (...args: Args) => Promise<void>): CommandLine;
}

/** The functions and texts that a program provides to get the commands. */
export interface AdministrationOptions {
  /** Called when a command runs, so that an invalid setting fails that command alone. */
  databaseUrl(): Promise<string>;
  /** Whether a setting names the database. Otherwise it is the default in the current folder. */
  isDatabaseChosen(): boolean;
  /** The end of the error message for a missing database: what to do. */
  readonly remedyIfMissing: string;
  /** Called when a command runs, but not for its help. */
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
  /** Creates the error that a failing command throws, with one sentence for the operator. */
  refusal(sentence: string): Error;
  /** Records what an operator did to a job, in the transaction that changes the job. Default: not recorded. */
  recordJobAct?(transaction: AnyTransaction, action: string, jobId: string): Promise<void>;
  /** Kinds of the jobs that the program enqueues, without scheduled jobs. */
  jobKinds(): Promise<readonly string[]>;
  /** Allow-list of job payload fields that hold no secret. The values of all other fields are hidden. */
  readonly shownPayloadFields: readonly string[];
}
