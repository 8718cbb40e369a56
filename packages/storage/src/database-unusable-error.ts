/** The database cannot be used in its current state. The message says what is wrong, where, and what to do. */
export class DatabaseUnusableError extends Error {
  readonly code = 'DATABASE_UNUSABLE';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnusableError';
  }
}
