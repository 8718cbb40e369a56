import { CompiledQuery, type Kysely } from 'kysely';
import type { ServerTables } from '#server/tables.js';
import { nodesOf, type ObservedPlan, observePlans, type PlanNode } from '../../../support/observe-plans.js';
import { type ObservedQuery, observeQueries } from '../../../support/observe-queries.js';
import type { TestBackend } from '../../../support/test-databases.js';
import { growingTables, tablesThatGrow } from './growing-tables.js';

/** The cost of a statement. */
export interface StatementCost {
  readonly sql: string;
  /**
   * On PostgreSQL, the number of rows visited by scans of growing tables. SQLite does not count visited rows. There, it
   * is how many numbers the result contains, because one string may list the ids of many rows.
   */
  readonly rows: number;
  /** The statement's scans of growing tables. On SQLite, scans of a whole index are included. */
  readonly scans: readonly string[];
}

/** Runs an operation. Returns the cost of each of its statements, except statements of jobs. */
export async function statementsOf(
  { name }: TestBackend,
  db: Kysely<ServerTables>,
  act: () => Promise<unknown>,
): Promise<StatementCost[]> {
  const costs = name === 'postgres' ? await costsOnPostgres(act) : await costsOnSqlite(db, act);
  return costs.filter(({ sql }) => !/\bjobs\b/.test(sql));
}

async function costsOnPostgres(act: () => Promise<unknown>): Promise<StatementCost[]> {
  const seen: ObservedPlan[] = [];
  const stop = observePlans((plan) => void seen.push(plan));
  await act().finally(stop);
  return seen.map(({ sql, plan }) => {
    const scans = nodesOf(plan).filter(
      ({ 'Node Type': type, 'Relation Name': table = '' }) =>
        type.endsWith('Scan') && growingTables.includes(table),
    );
    return {
      sql: onOneLine(sql),
      rows: scans.reduce((sum, scan) => sum + visitedBy(scan), 0),
      scans: scans
        .filter((scan) => scan['Node Type'] === 'Seq Scan' && visitedBy(scan) > fewRows)
        .map((scan) => `Seq Scan on ${scan['Relation Name']}`),
    };
  });
}

/** A sequential scan that visits at most this many rows is harmless. */
const fewRows = 100;

function visitedBy(scan: PlanNode): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = scan;
  return (scan['Actual Rows'] + filtered + rechecked) * scan['Actual Loops'];
}

async function costsOnSqlite(db: Kysely<ServerTables>, act: () => Promise<unknown>) {
  const seen: ObservedQuery[] = [];
  const stop = observeQueries(db, (query) => void seen.push(query));
  await act().finally(stop);
  const costs: StatementCost[] = [];
  for (const query of seen) {
    const sql = onOneLine(query.sql);
    costs.push({ sql, rows: numbersIn(query.rows), scans: await scansOnSqlite(db, query) });
  }
  return costs;
}

function numbersIn(rows: readonly object[]): number {
  return JSON.stringify(rows).match(/\d+/g)?.length ?? 0;
}

/** Aliases of growing tables in statements. */
const aliases = ['active', 'copy', 'member', 'nested', 'other', 'owner', 'queue', 'reference', 'value'];
/** Small partial indexes that statements may read completely. */
const partialIndexes =
  /USING (COVERING )?INDEX (users_system_bot|event_queues_all_public|channels_default|channels_web_public)\b/;

async function scansOnSqlite(db: Kysely<ServerTables>, { sql, parameters }: ObservedQuery) {
  if (!/^\s*(with|select|insert|update|delete)/i.test(sql)) return [];
  const { rows } = await db.executeQuery(CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]));
  return rows.flatMap((row) => {
    const { detail } = row as { readonly detail: string };
    // Excludes virtual tables, which are built from JSON parameters.
    const [, table = ''] = /^SCAN (\w+)\b(?! VIRTUAL)/.exec(detail) ?? [];
    const isGrowing = [...tablesThatGrow, ...aliases].includes(table);
    return isGrowing && !partialIndexes.test(detail) ? [detail] : [];
  });
}

function onOneLine(sql: string): string {
  return sql.replace(/\s+/g, ' ').trim();
}
