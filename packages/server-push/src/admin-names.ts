/** Names of this program's commands and settings, as shown in messages to admins. */
export interface AdminNames {
  /** The program with the commands for the database and its jobs, such as `waxwing-server`. */
  readonly program: string;
  /** The prefix of the push commands, such as `waxwing-server push`. */
  readonly push: string;
  /** The prefix of the settings, such as `SERVER_`. */
  readonly prefix: string;
}

/** Returns what the admin should do if push is not enabled, as the end of an error message. */
export function enableRemedy({ push, prefix }: AdminNames): string {
  return `run ${push} enable --relay URL, or set ${relaySettings(prefix)}`;
}

/** Returns the names of the settings that configure a relay, as part of a sentence. */
export function relaySettings(prefix: string): string {
  return `${prefix}RELAY_URL, ${prefix}RELAY_SERVER_ID and ${prefix}RELAY_SERVER_KEY_FILE`;
}
