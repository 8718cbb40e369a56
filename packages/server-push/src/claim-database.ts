const claimed = new WeakSet<object>();

/**
 * Claims a database for one push: a second one on the same connection would take over the jobs of the first. Returns a
 * function that ends the claim.
 * @throws Error if another push has the database.
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
