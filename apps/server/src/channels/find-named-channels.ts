import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import type { ServerTransaction } from '../tables.js';
import { type Channel, lockChannels } from './channel-store.js';

/**
 * The channels with these names, whatever the letter case, and those with these ids, by the name in lower case; nobody else
 * changes them meanwhile.
 */
export async function lockNamedChannels(
  transaction: ServerTransaction,
  names: readonly string[],
  ids: readonly number[] = [],
): Promise<ReadonlyMap<string, Channel>> {
  if (names.length + ids.length === 0) return new Map();
  const { db } = transaction;
  const rows = names.map((name) => ({ name: name.toLowerCase() }));
  const found = await sql<{ id: number }>`
    select id from channels
    where name_lower in (select v.name from ${rowsAsTable(db, 'v', { name: 'text' }, rows)})`.execute(db);
  const channels = await lockChannels(transaction, [...found.rows.map(({ id }) => id), ...ids]);
  return new Map(channels.map((channel) => [channel.name.toLowerCase(), channel]));
}
