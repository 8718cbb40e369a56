import { isPostgres } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';

/**
 * Creates the full-text index of messages: an expression index on PostgreSQL, an FTS5 table with triggers on SQLite.
 */
export async function createSearch(db: Kysely<unknown>): Promise<void> {
  if (isPostgres(db)) {
    await sql`create index messages_search on messages
      using gin (to_tsvector('simple', topic || ' ' || content))`.execute(db);
    return;
  }
  await sql`create virtual table message_search using fts5(
    topic, content, content = 'messages', content_rowid = 'id', tokenize = "unicode61 remove_diacritics 0"
  )`.execute(db);
  const added = sql.raw(
    'insert into message_search (rowid, topic, content) values (new.id, new.topic, new.content);',
  );
  const removed = sql.raw(
    "insert into message_search (message_search, rowid, topic, content) values ('delete', old.id, old.topic, old.content);",
  );
  await sql`create trigger messages_search_insert after insert on messages begin ${added} end`.execute(db);
  await sql`create trigger messages_search_delete after delete on messages begin ${removed} end`.execute(db);
  await sql`create trigger messages_search_update after update of topic, content on messages
    begin ${removed} ${added} end`.execute(db);
}
