/** Options of `Registrar.sync`. */
export interface SyncOptions {
  /**
   * How long to wait for the relay's decision on a registration, in milliseconds; default 20,000. With 0, `sync` does
   * not wait.
   */
  readonly settleTimeoutMilliseconds?: number;
  /** Repeats a failed registration immediately, without exponential backoff; for a retry button. Default `false`. */
  readonly retryNow?: boolean;
}
