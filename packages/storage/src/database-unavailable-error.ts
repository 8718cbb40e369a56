/** Seconds for the `Retry-After` header of answers to clients. */
const retryAfterSeconds = 5;

/**
 * The database is temporarily unreachable or out of space. The write was rolled back; only if the connection broke
 * during the commit, its outcome is unknown. The caller can retry later, without a restart.
 */
export class DatabaseUnavailableError extends Error {
  readonly code = 'DATABASE_UNAVAILABLE';
  readonly retryAfterSeconds = retryAfterSeconds;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnavailableError';
  }
}

/**
 * Whether a single write may have made its batch fail. False if the database is unavailable: then every write fails.
 */
export function mayBeOneWritesFault(error: unknown): boolean {
  return !(error instanceof DatabaseUnavailableError);
}
