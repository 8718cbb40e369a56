/**
 * Returns a clause that names the PostgreSQL limit behind a refused connection (SQLSTATE 53300) and says what to do.
 */
export function describeConnectionLimit(message: string): string {
  const [, kind, name] = /for (role|database) "(.*)"$/.exec(message) ?? [];
  if (kind === undefined || name === undefined) {
    return 'it has no connection left; raise its max_connections, or let fewer processes connect';
  }
  const limited = kind === 'role' ? `the user "${name}"` : `the database "${name}"`;
  const allows = kind === 'role' ? 'its role allows' : 'it allows';
  return `${limited} has as many connections as ${allows}; raise that limit (alter ${kind} ${name} connection limit N, up to eleven for each process), or let fewer processes connect`;
}
