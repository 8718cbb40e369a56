/** A problem that keeps an app's notifications from being delivered. */
export interface AppTrouble {
  /** Human-readable name of the app's credential, as in `AppRoute`. */
  readonly credential: string;
  /** Unix milliseconds. */
  readonly since: number;
  /** One sentence for operators: what is wrong, and what to do. */
  readonly sentence: string;
}
