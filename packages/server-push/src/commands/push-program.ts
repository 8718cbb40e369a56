import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import type { Terminal } from '@waxwing/service/command-line';
import type { Sodium } from '@waxwing/sodium';
import type { AdminNames } from '../admin-names.js';
import type { PublishEvents, PushRealm } from '../server-push-options.js';
import type { AccountSettings } from '../settings/account-settings.js';
import type { ServerPushTables } from '../tables.js';

/** The context of the push commands. */
export interface PushWork {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly settings: AccountSettings;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
}

/** A program that has the push commands. */
export interface PushProgram {
  readonly terminal: Terminal;
  readonly names: AdminNames;
  /** Runs a command's work on the server's database, and closes it. */
  withPush<Result>(work: (push: PushWork) => Promise<Result>): Promise<Result>;
  /** How --user identifies a user: the kind of its value, such as `address`, and a phrase for the help. */
  readonly userIs: { readonly kind: string; readonly description: string };
  /** Finds the user of --user. @throws CommandError if there is none. */
  findUser(database: PushWork['database'], name: string): Promise<UserId>;
  /** The address that is used without --contact, as a phrase for the help; absent if there is none. */
  readonly contactIs?: string;
  /**
   * Returns the function that publishes events to the users' clients. Without it, phones learn of a change when they
   * next ask.
   */
  publisherOf?(database: PushWork['database']): Promise<PublishEvents>;
  /** Finds the e-mail address of someone who is responsible for the server. */
  findContact(database: PushWork['database']): Promise<string | undefined>;
}
