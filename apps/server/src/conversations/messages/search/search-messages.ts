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

function matchOf(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' AND ');
}

/**
 * Returns the FTS5 query for the messages that match all searches. SQLite's index yields matches in the order of ids,
 * so a statement can stop after a page. Returns `undefined` on PostgreSQL, and if a search has no words.
 */
export function orderedMatch(db: Kysely<ServerTables>, searches: readonly string[]): string | undefined {
  const words = searches.map(wordsOf);
  return isPostgres(db) || words.some(({ length }) => length === 0) ? undefined : matchOf(words.flat());
}

/**
 * Returns an SQL condition that is true if the row of `messages` contains all words in its topic or text. A search
 * without words matches nothing.
 */
export function searchCondition(db: Kysely<ServerTables>, search: string): RawBuilder<boolean> {
  const words = wordsOf(search);
  if (words.length === 0) return sql<boolean>`false`;
  if (isPostgres(db)) {
    return sql<boolean>`to_tsvector('simple', messages.topic || ' ' || messages.content)
      @@ plainto_tsquery('simple', ${words.join(' ')})`;
  }
  return sql<boolean>`messages.id in (select rowid from message_search where message_search match ${matchOf(words)})`;
}
