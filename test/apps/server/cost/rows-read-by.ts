import { isPostgres } from '@waxwing/storage';
import { CompiledQuery, type Kysely } from 'kysely';
import type { ObservedQuery } from '../../../support/observe-queries.js';

const counted = [
  ...['users', 'subscriptions', 'conversation_participants'],
  ...['user_groups', 'user_group_members', 'user_group_subgroups', 'permissions'],
];

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * The rows that a statement reads. On PostgreSQL, the rows of users, subscriptions and groups that its scans visit, if it
 * only reads. Otherwise the numbers in its result, because one text may list the ids of many rows.
 */
export async function rowsReadBy<Tables>(db: Kysely<Tables>, query: ObservedQuery): Promise<number> {
  const { sql, parameters, rows } = query;
  const isRead = /^\s*(with|select)/i.test(sql) && !/\b(insert into|update \S+ set|delete from)\b/i.test(sql);
  if (!isRead || !isPostgres(db)) return numbersIn(rows);
  const explain = CompiledQuery.raw(`explain (analyze, format json) ${sql}`, [...parameters]);
  const [row] = (await db.executeQuery(explain)).rows as {
    readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[];
  }[];
  return (row?.['QUERY PLAN'] ?? []).reduce((sum, { Plan }) => sum + visitedIn(Plan), 0);
}

function numbersIn(rows: readonly object[]): number {
  return JSON.stringify(rows).match(/\d+/g)?.length ?? 0;
}

function visitedIn(node: PlanNode): number {
  const { 'Node Type': type, 'Actual Rows': rows, 'Actual Loops': loops } = node;
  const isCounted = type.endsWith('Scan') && counted.includes(node['Relation Name'] ?? '');
  const own = isCounted ? (rows + (node['Rows Removed by Filter'] ?? 0)) * loops : 0;
  return (node.Plans ?? []).reduce((sum, each) => sum + visitedIn(each), own);
}
