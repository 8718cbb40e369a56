/** How messages to an admin name this program's commands and settings. */
export interface AdminNames {
  /** The program with the commands of the database and its jobs, such as `waxwing-server`. */
  readonly program: string;
  /** How the commands of push begin, such as `waxwing-server push`. */
  readonly push: string;
  /** How the settings begin, such as `SERVER_`. */
  readonly prefix: string;
}
