/** Options of `Registrar.sync`. */
export interface SyncOptions {
  /** How long to wait for the relay's decision on a registration; default 20,000, 0 not to wait. */
  readonly settleTimeoutMilliseconds?: number;
  /**
   * Repeats a failed registration at once, for a button with which the user tries again; default `false`: with
   * exponential backoff.
   */
  readonly retryNow?: boolean;
}
