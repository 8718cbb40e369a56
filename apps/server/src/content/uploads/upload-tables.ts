import type { MessageId, UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';

/** Upload tables. Times are Unix milliseconds, booleans are 0 or 1. */
export interface UploadTables {
  attachments: {
    id: Generated<number>;
    /** The path in the file store: `<realm_id>/<xx>/<yyyy>/<file_name>`. */
    path_id: string;
    owner_id: UserId;
    file_name: string;
    content_type: string;
    /** 0 until the file is complete. */
    size_bytes: number;
    created_at: number;
    /** 0 while the file is being uploaded, and again while the file is being removed. */
    is_stored: number;
    /**
     * Start of the time without references, or of the removal. Null while a message refers to the file, and for
     * avatars.
     */
    unclaimed_since: number | null;
    /** 1 if the file is its owner's avatar. Messages do not refer to avatars. */
    is_avatar: Generated<number>;
  };
  /** References from messages to files. */
  attachment_messages: {
    attachment_id: number;
    message_id: MessageId;
  };
  /** A single row, `id` 1. */
  upload_account: {
    id: number;
    /** The key that signs temporary download URLs: 64 hexadecimal digits. */
    signing_key: string;
    /** Total bytes of the stored files. */
    used_bytes: number;
  };
}

const { integer, text } = columnTypes;

export async function createUploads(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('attachments'))
    .addColumn('path_id', text, (column) => column.notNull().unique())
    .addColumn('owner_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('file_name', text, (column) => column.notNull())
    .addColumn('content_type', text, (column) => column.notNull())
    .addColumn('size_bytes', integer, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('is_stored', integer, (column) => column.notNull())
    .addColumn('unclaimed_since', integer)
    .execute();
  await db.schema.createIndex('attachments_owner').on('attachments').columns(['owner_id', 'id']).execute();
  await sql`create index attachments_unclaimed on attachments (unclaimed_since) where unclaimed_since is not null`.execute(
    db,
  );
  await db.schema
    .createTable('attachment_messages')
    .addColumn('attachment_id', integer, (column) => column.notNull().references('attachments.id'))
    .addColumn('message_id', integer, (column) => column.notNull().references('messages.id'))
    .addPrimaryKeyConstraint('attachment_messages_pair', ['attachment_id', 'message_id'])
    .execute();
  await db.schema
    .createIndex('attachment_messages_message')
    .on('attachment_messages')
    .column('message_id')
    .execute();
  await db.schema
    .createTable('upload_account')
    .addColumn('id', integer, (column) => column.primaryKey())
    .addColumn('signing_key', text, (column) => column.notNull())
    .addColumn('used_bytes', integer, (column) => column.notNull())
    .execute();
}

/** Adds the column that distinguishes avatars from files for messages. */
export async function addAvatars(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('attachments')
    .addColumn('is_avatar', integer, (column) => column.notNull().defaultTo(0))
    .execute();
}
