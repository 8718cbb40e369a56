import { isPostgres } from '@waxwing/storage';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ServerTables } from '../../tables.js';

/** More words than anybody types make a search no more exact. */
const maximumWords = 100;

/** The words of what is searched for, of which a message must have each. */
export function wordsOf(search: string): string[] {
  const words = search.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...new Set(words)].slice(0, maximumWords);
}

/** Whether the row of `messages` has all words, in its topic or its text; a search without words finds nothing. */
export function searchCondition(db: Kysely<ServerTables>, search: string): RawBuilder<boolean> {
  const words = wordsOf(search);
  if (words.length === 0) return sql<boolean>`false`;
  if (isPostgres(db)) {
    return sql<boolean>`to_tsvector('simple', messages.topic || ' ' || messages.content)
      @@ plainto_tsquery('simple', ${words.join(' ')})`;
  }
  const query = words.map((word) => `"${word}"`).join(' AND ');
  return sql<boolean>`messages.id in (select rowid from message_search where message_search match ${query})`;
}
