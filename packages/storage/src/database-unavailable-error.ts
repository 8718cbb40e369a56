/** Value of the `Retry-After` header in responses to clients. */
const retryAfterSeconds = 5;

/**
 * The database is temporarily unreachable or out of space. The write was rolled back, unless the connection broke
 * during the commit; then the outcome is unknown. The caller can retry later without a restart.
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
 * Whether a single write may have caused its batch to fail. False if the database is unavailable, because then every
 * write fails.
 */
export function mayBeOneWritesFault(error: unknown): boolean {
  return !(error instanceof DatabaseUnavailableError);
}
