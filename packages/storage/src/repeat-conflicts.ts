export interface RepeatConflictsOptions {
  /** Maximum number of connections to the database. */
  readonly connections: number;
  /** Whether an error is a conflict with another transaction, so that a retry may succeed. */
  isConflict(error: unknown): boolean;
}

const maximumConflicts = 8;

/** Runs `act`. After a conflict, runs it again from the start, at most 8 times plus once per connection. */
export async function repeatConflicts<Result>(
  act: () => Promise<Result>,
  { connections, isConflict }: RepeatConflictsOptions,
): Promise<Result> {
  // One more attempt per connection, because each connection may have lost a prepared statement.
  const mostAttempts = maximumConflicts + connections;
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (attempt === mostAttempts || !isConflict(error)) throw error;
    }
  }
}
