/** How messages to an admin name this program's commands and settings. */
export interface AdminNames {
  /** The program with the commands for the database and its jobs, such as `waxwing-server`. */
  readonly program: string;
  /** The prefix of the push commands, such as `waxwing-server push`. */
  readonly push: string;
  /** The prefix of the settings, such as `SERVER_`. */
  readonly prefix: string;
}

/** Returns the end of the error message for when push is not enabled: what the admin should do. */
export function enableRemedy({ push, prefix }: AdminNames): string {
  return `run ${push} enable --relay URL, or set ${relaySettings(prefix)}`;
}

/** Lists the settings that name a relay, as part of a sentence. */
export function relaySettings(prefix: string): string {
  return `${prefix}RELAY_URL, ${prefix}RELAY_SERVER_ID and ${prefix}RELAY_SERVER_KEY_FILE`;
}
