/** Options of `Registrar.sync`. */
export interface SyncOptions {
  /**
   * How long to wait for the relay's decision on a registration, in milliseconds; default 20,000. With 0 it does not
   * wait.
   */
  readonly settleTimeoutMilliseconds?: number;
  /**
   * Repeats a failed registration at once, for a button with which the user retries; default `false`: with exponential
   * backoff.
   */
  readonly retryNow?: boolean;
}
