import { DatabaseUnusableError } from './database-unusable-error.js';
import type { NeededRights } from './postgres/missing-rights.js';

/**
 * Checks that the PostgreSQL user has the privileges that startup needs. Changes nothing. SQLite has no privileges, so
 * nothing is checked there.
 * @throws DatabaseUnusableError if a privilege is missing, or the database cannot be opened
 */
export async function requireRights(url: string, needed: NeededRights): Promise<void> {
  if (url.startsWith('sqlite:')) return;
  const { openPostgresBackend } = await import('./postgres/postgres-backend.js');
  const { describeMissingRights } = await import('./postgres/missing-rights.js');
  const onError = () => undefined;
  const backend = await openPostgresBackend({ url, role: 'visiting', units: [], connections: 2, onError });
  try {
    const problem = await describeMissingRights(backend.db, url, needed);
    if (problem !== undefined) throw new DatabaseUnusableError(problem);
  } finally {
    await backend.close();
  }
}
