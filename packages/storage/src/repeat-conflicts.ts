export interface RepeatConflictsOptions {
  /** Maximum connections to the database. */
  readonly connections: number;
  /** Whether an error is a conflict with another transaction, so that a retry may succeed. */
  isConflict(error: unknown): boolean;
}

const maximumConflicts = 8;

/** Runs `act`, and retries it from the start after a conflict: at most 8 times, plus once per connection. */
export async function repeatConflicts<Result>(
  act: () => Promise<Result>,
  { connections, isConflict }: RepeatConflictsOptions,
): Promise<Result> {
  // One more attempt per connection, because each of them may have lost a prepared statement.
  const mostAttempts = maximumConflicts + connections;
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (attempt === mostAttempts || !isConflict(error)) throw error;
    }
  }
}
