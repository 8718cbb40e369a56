export interface RepeatConflictsOptions {
  /** How many connections to the database there may be. */
  readonly connections: number;
  /** Whether what failed lost against another transaction and may win when it is done again. */
  isConflict(error: unknown): boolean;
}

const maximumConflicts = 8;

/** Does `act`, and again from the start each time that it loses against others, for as long as that may well end. */
export async function repeatConflicts<Result>(
  act: () => Promise<Result>,
  { connections, isConflict }: RepeatConflictsOptions,
): Promise<Result> {
  // Each connection may have lost a statement that it kept.
  const mostAttempts = maximumConflicts + connections;
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (attempt === mostAttempts || !isConflict(error)) throw error;
    }
  }
}
