/** How long a client should wait before it asks again, in seconds. */
const retryAfterSeconds = 5;

/**
 * The database does not answer right now, or has no room left: nothing of the write stays, or (when the connection
 * broke during the commit) whether it stays is not known. Trying again later is safe and needs no restart.
 */
export class DatabaseUnavailableError extends Error {
  readonly code = 'DATABASE_UNAVAILABLE';
  readonly retryAfterSeconds = retryAfterSeconds;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnavailableError';
  }
}
