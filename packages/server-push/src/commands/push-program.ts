import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import type { Terminal } from '@waxwing/service/command-line';
import type { Sodium } from '@waxwing/sodium';
import type { AdminNames } from '../admin-names.js';
import type { PublishEvents, PushRealm } from '../server-push-options.js';
import type { AccountSettings } from '../settings/account-settings.js';
import type { ServerPushTables } from '../tables.js';

/** The dependencies of the push commands. */
export interface PushWork {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly settings: AccountSettings;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
}

/** A program that offers the push commands. */
export interface PushProgram {
  readonly terminal: Terminal;
  readonly names: AdminNames;
  /** Opens the server's database, runs a command's work on it, and closes it. */
  withPush<Result>(work: (push: PushWork) => Promise<Result>): Promise<Result>;
  /** How `--user` identifies a user: the kind of value, such as `address`, and a phrase for the help. */
  readonly userIs: { readonly kind: string; readonly description: string };
  /** Finds the user that `--user` names. @throws CommandError if there is no such user. */
  findUser(database: PushWork['database'], name: string): Promise<UserId>;
  /** The default for `--contact`, as a phrase for the help. Absent if there is no default. */
  readonly contactIs?: string;
  /**
   * Returns the function that publishes events to users' clients. Without it, phones learn about a change only when
   * they next request their state.
   */
  publisherOf?(database: PushWork['database']): Promise<PublishEvents>;
  /** Finds the email address of a person who is responsible for the server. */
  findContact(database: PushWork['database']): Promise<string | undefined>;
}
