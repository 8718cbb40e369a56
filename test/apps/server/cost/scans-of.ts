import { isPostgres } from '@waxwing/storage';
import { CompiledQuery, type Kysely } from 'kysely';
import type { ServerTables } from '#server/tables.js';
import type { ObservedQuery } from '../../../support/observe-queries.js';

/** Tables that grow with users, messages and groups, and their other names in statements. */
const growing = [
  ...['users', 'subscriptions', 'messages', 'user_messages', 'message_edits', 'conversations', 'user_topics'],
  ...[
    'conversation_participants',
    'user_groups',
    'user_group_members',
    'user_group_subgroups',
    'permissions',
  ],
  ...['queued_events', 'event_texts', 'push_devices', 'sign_in_keys', 'user_settings', 'attachment_messages'],
  ...['active', 'copy', 'member', 'nested', 'other', 'owner', 'queue', 'reference', 'value'],
];

/** The tables with thousands of rows in the large organization. PostgreSQL rightly scans tables of a few pages. */
const large = ['users', 'subscriptions', 'user_groups', 'user_group_members', 'permissions', 'conversations'];
/** Small partial indexes that a statement reads completely. */
const partialIndexes = ['users_system_bot'];

/** The scans of growing tables in the plan of a statement, including those of a whole index. */
export async function scansOf(db: Kysely<ServerTables>, query: ObservedQuery): Promise<string[]> {
  if (!/^\s*(with|select|insert|update|delete)/i.test(query.sql)) return [];
  return isPostgres(db) ? scansOnPostgres(db, query) : scansOnSqlite(db, query);
}

async function scansOnSqlite(db: Kysely<ServerTables>, { sql, parameters }: ObservedQuery) {
  const { rows } = await db.executeQuery(CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]));
  return rows.flatMap((row) => {
    const { detail } = row as { readonly detail: string };
    // Excludes virtual tables, which are made of JSON parameters.
    const [, table] = /^SCAN (\w+)\b(?! VIRTUAL)/.exec(detail) ?? [];
    return table !== undefined && growing.includes(table) ? [detail] : [];
  });
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

async function scansOnPostgres(db: Kysely<ServerTables>, { sql, parameters }: ObservedQuery) {
  const { rows } = await db.executeQuery(CompiledQuery.raw(`explain (format json) ${sql}`, [...parameters]));
  const [row] = rows as { readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }[];
  const nodes = (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => withNested(Plan));
  return nodes.flatMap((node) => {
    const { 'Node Type': type, 'Relation Name': table = '' } = node;
    return readsAll(node) && large.includes(table) ? [`${type} on ${table}`] : [];
  });
}

function readsAll({ 'Node Type': type, 'Index Name': index = '', 'Index Cond': condition }: PlanNode) {
  if (type === 'Seq Scan') return true;
  return /^Index (Only )?Scan/.test(type) && condition === undefined && !partialIndexes.includes(index);
}

function withNested(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(withNested)];
}
