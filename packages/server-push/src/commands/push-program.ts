import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import type { Terminal } from '@waxwing/service/command-line';
import type { Sodium } from '@waxwing/sodium';
import type { PushRealm } from '../server-push-options.js';
import type { AccountSettings } from '../settings/account-settings.js';
import type { ServerPushTables } from '../tables.js';

/** What the push commands work with. */
export interface PushWork {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly settings: AccountSettings;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
}

/** A program that has the push commands. */
export interface PushProgram {
  readonly terminal: Terminal;
  /** Runs a command's work on the server's database. @throws CommandError for what the relay refuses. */
  withPush<Result>(work: (push: PushWork) => Promise<Result>): Promise<Result>;
  /** Finds the user of --user. @throws CommandError if there is none. */
  findUser(database: PushWork['database'], name: string): Promise<UserId>;
  /** Finds the e-mail address of someone who is responsible for the server. */
  findContact(database: PushWork['database']): Promise<string | undefined>;
}

/** The end of a sentence that says that push is not enabled. */
export const enableRemedy =
  'run waxwing-server push enable --relay URL, or set SERVER_RELAY_URL, SERVER_RELAY_SERVER_ID and SERVER_RELAY_SERVER_KEY_FILE';
