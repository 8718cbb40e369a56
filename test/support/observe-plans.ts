import pg from 'pg';
import { vi } from 'vitest';

/** A node of a PostgreSQL query plan, with the number of rows that it read during execution. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  /** Average number of rows per loop. */
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** A statement that PostgreSQL ran, and its plan. */
export interface ObservedPlan {
  readonly sql: string;
  readonly plan: PlanNode;
}

const settings = {
  session_preload_libraries: 'auto_explain',
  jit: 'off',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
};

/**
 * Configures a database so that new connections report the plan of each statement. The user in the URL must be a
 * superuser. `usesIndexes` prevents sequential scans: in a small test table, they would read more rows than the index
 * of a large table.
 */
export async function sendPlans(
  url: string,
  { usesIndexes }: { readonly usesIndexes: boolean },
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const database = client.escapeIdentifier(client.database ?? '');
    for (const [name, value] of Object.entries({ ...settings, enable_seqscan: usesIndexes ? 'off' : 'on' }))
      await client.query(`alter database ${database} set ${name} = '${value}'`);
  } finally {
    await client.end();
  }
}

/**
 * Calls `tell` with the plan of each statement that this process runs on a database configured by {@link sendPlans}.
 * Stops when the returned function is called.
 */
export function observePlans(tell: (plan: ObservedPlan) => void): () => void {
  const { emit } = pg.Client.prototype;
  const spy = vi.spyOn(pg.Client.prototype, 'emit').mockImplementation(function (
    this: pg.Client,
    event: string | symbol,
    ...rest: unknown[]
  ) {
    const { message = '' } = event === 'notice' ? (rest[0] as { readonly message?: string }) : {};
    const [, json] = /^duration: [\d.]+ ms {2}plan:\n(.*)$/s.exec(message) ?? [];
    if (json !== undefined) {
      const { 'Query Text': sql, Plan: plan } = JSON.parse(json);
      tell({ sql, plan });
    }
    return emit.call(this, event as never, ...(rest as never[]));
  });
  return () => spy.mockRestore();
}

/** The node and all nodes below it. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
