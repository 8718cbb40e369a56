import type { PushKeyId } from '@waxwing/protocol';
import { columnTypes } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { TokenAddressee } from './addressee.js';

/** Push keys that ended while other users of the phone still use the same token. */
export interface EndedKeyTable {
  realm_id: RealmId;
  push_account_id: TokenAddressee;
  push_key_id: PushKeyId;
  /**
   * Unix milliseconds. Notifications that arrive over a minute later are accepted: the phone may have reused the key.
   */
  ended_at: number;
}

export async function createEndedKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('ended_keys')
    .addColumn('realm_id', columnTypes.integer, (column) => column.notNull())
    .addColumn('push_account_id', columnTypes.text, (column) => column.notNull())
    .addColumn('push_key_id', columnTypes.integer, (column) => column.notNull())
    .addColumn('ended_at', columnTypes.integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('ended_keys_key', ['realm_id', 'push_account_id', 'push_key_id'])
    .execute();
  await db.schema.createIndex('ended_keys_age').on('ended_keys').column('ended_at').execute();
}
