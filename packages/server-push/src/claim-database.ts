const claimed = new WeakSet<object>();

/**
 * Claims a database for one push instance: a second instance on the same connection would take over the first
 * instance's jobs. Returns a function that releases the claim.
 * @throws Error if another push instance has claimed the database.
 */
export function claimDatabase(database: object): () => void {
  if (claimed.has(database)) {
    throw new Error(
      'createServerPush was called again with a database that another push in this process uses: share that push, or close it first.',
    );
  }
  claimed.add(database);
  return () => void claimed.delete(database);
}
