import { isPostgres } from '@waxwing/storage';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ServerTables } from '../../../tables.js';

/** Maximum number of words in a search. Bounds its cost; any further words are ignored. */
const maximumWords = 100;

/** Returns the distinct words of a search, in lower case. A message must contain all of them. */
export function wordsOf(search: string): string[] {
  const words = search.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...new Set(words)].slice(0, maximumWords);
}

/**
 * Returns the FTS5 query for the messages that match all searches. SQLite's index yields matches in the order of ids,
 * so a statement can stop after a page. Returns `undefined` on PostgreSQL, and if a search has no words.
 */
export function matchOf(db: Kysely<ServerTables>, searches: readonly string[]): string | undefined {
  const words = wordsOfAll(searches);
  return isPostgres(db) ? undefined : words?.map((word) => `"${word}"`).join(' AND ');
}

/**
 * Returns an SQL condition that is true if the row of `messages` contains all words of the searches in its topic or
 * text. A search without words matches nothing. One condition for all searches, because SQLite would compare each match
 * of one condition with each match of another.
 */
export function searchCondition(db: Kysely<ServerTables>, searches: readonly string[]): RawBuilder<boolean> {
  const words = wordsOfAll(searches);
  if (words === undefined) return sql<boolean>`false`;
  if (isPostgres(db)) {
    return sql<boolean>`to_tsvector('simple', messages.topic || ' ' || messages.content)
      @@ plainto_tsquery('simple', ${words.join(' ')})`;
  }
  const match = matchOf(db, searches);
  return sql<boolean>`messages.id in (select rowid from message_search where message_search match ${match})`;
}

/** Returns the words of all searches, or `undefined` if one has none. */
function wordsOfAll(searches: readonly string[]): string[] | undefined {
  const words = searches.map(wordsOf);
  return words.some(({ length }) => length === 0) ? undefined : words.flat();
}
