import type { ChannelId } from '@waxwing/protocol';
import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import type { ServerTransaction } from '../../tables.js';
import { type Channel, lockChannels } from './channel-store.js';

/**
 * Finds channels by name, case-insensitively, and locks them until the transaction ends. Returns a map keyed by
 * lower-case name. If a name is not found, also locks and returns the channels in `ifMissing`.
 */
export async function lockNamedChannels(
  transaction: ServerTransaction,
  names: readonly string[],
  ifMissing: readonly ChannelId[] = [],
): Promise<ReadonlyMap<string, Channel>> {
  if (names.length === 0) return new Map();
  const { db } = transaction;
  const rows = [...new Set(names.map((name) => name.toLowerCase()))].map((name) => ({ name }));
  const found = await sql<{ id: ChannelId }>`
    select id from channels
    where name_lower in (select v.name from ${rowsAsTable(db, 'v', { name: 'text' }, rows)})`.execute(db);
  const others = found.rows.length < rows.length ? ifMissing : [];
  const channels = await lockChannels(transaction, [...found.rows.map(({ id }) => id), ...others]);
  return new Map(channels.map((channel) => [channel.name.toLowerCase(), channel]));
}
