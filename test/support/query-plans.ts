import { isPostgres } from '@waxwing/storage';
import { type Kysely, type KyselyPlugin, type RootOperationNode, sql } from 'kysely';

/** Query plans of all statements that `work` runs. */
export async function plansOf<Tables>(
  db: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<unknown>,
): Promise<string> {
  const nodes: RootOperationNode[] = [];
  const watching: KyselyPlugin = {
    transformQuery({ node }) {
      nodes.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await work(db.withPlugin(watching));
  return db.transaction().execute(async (transaction) => {
    // Otherwise PostgreSQL would scan small tables instead of using their indexes.
    if (isPostgres(db)) await sql`set local enable_seqscan = off`.execute(transaction);
    const plans: string[] = [];
    for (const node of nodes) {
      const { parameters, sql: text } = db
        .getExecutor()
        .compileQuery(node as never, { queryId: 'explained' });
      const explain = isPostgres(db) ? 'explain ' : 'explain query plan ';
      const { rows } = await transaction.executeQuery({
        sql: `${explain}${text}`,
        parameters,
        query: node as never,
        queryId: { queryId: 'explain' },
      });
      plans.push(rows.map((row) => Object.values(row as object).join(' ')).join('\n'));
    }
    return plans.join('\n');
  });
}
