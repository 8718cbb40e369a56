/**
 * What a command of this repository means by `--backend`: `undefined` for SQLite, otherwise the PostgreSQL on which it
 * makes its databases. `refuse` says what is wrong, and ends the process.
 */
export function databaseServer(backend: string, refuse: (why: string) => never): string | undefined {
  if (backend === 'sqlite') return undefined;
  if (backend !== 'postgres') return refuse(`There is no backend "${backend}".`);
  const url = process.env.WAXWING_TEST_POSTGRES_URL;
  return url || refuse('Set WAXWING_TEST_POSTGRES_URL to a PostgreSQL on which databases may be made.');
}
