/** The names of this program's commands and settings in messages to an admin. */
export interface AdminNames {
  /** The program with the commands of the database and its jobs, such as `waxwing-server`. */
  readonly program: string;
  /** The prefix of the push commands, such as `waxwing-server push`. */
  readonly push: string;
  /** The prefix of the settings, such as `SERVER_`. */
  readonly prefix: string;
}
