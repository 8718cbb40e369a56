import type { DatabaseWithJobsOptions } from '@waxwing/jobs';
import type { MigrationSet } from '@waxwing/storage';

/** As much of a command-line parser as the commands need; Commander's `Command` is one. */
export interface CommandLine {
  /** `name` may end with the names of arguments, such as `show <id>`. */
  command(name: string): CommandLine;
  description(text: string): CommandLine;
  option(flags: string, description: string): CommandLine;
  action<Args extends unknown[]>(run: (...args: Args) => Promise<void>): CommandLine;
}

/** What a program that keeps its data here gives to have commands about it. */
export interface AdministrationOptions {
  /** Read when a command runs, so that a wrong setting is a failure of the command. */
  databaseUrl(): Promise<string>;
  /** Loaded when a command runs, and not for its help. */
  migrations(): Promise<readonly MigrationSet[]>;
  readonly clock: DatabaseWithJobsOptions['now'];
  /** Characters that a line of the result has room for; `undefined` where nobody looks at it. */
  readonly columns?: number | undefined;
  readonly isColoured?: boolean;
  /** Prints the command's result. */
  print(text: string): void;
  /** Says something beside the result. */
  say(text: string): void;
  /** Throws unless the person agrees; `yes` is the answer given in advance. */
  requireConsent(question: string, yes?: boolean): Promise<void>;
  /** What is thrown when a command cannot be carried out. */
  refusal(sentence: string): Error;
  /** Names of the fields of job payloads that hold nothing secret; what other fields hold is not shown. */
  readonly shownPayloadFields: readonly string[];
}
