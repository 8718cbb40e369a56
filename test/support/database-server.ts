/**
 * Parses the `--backend` option of this repository's commands. Returns `undefined` for SQLite, otherwise the URL of the
 * PostgreSQL server on which to create databases. `refuse` prints the problem and exits.
 */
export function databaseServer(backend: string, refuse: (why: string) => never): string | undefined {
  if (backend === 'sqlite') return undefined;
  if (backend !== 'postgres') return refuse(`There is no backend "${backend}".`);
  const url = process.env.WAXWING_TEST_POSTGRES_URL;
  return (
    url || refuse('Set WAXWING_TEST_POSTGRES_URL to a PostgreSQL server on which databases may be created.')
  );
}
