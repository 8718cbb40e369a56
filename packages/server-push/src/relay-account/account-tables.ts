import { columnTypes } from '@waxwing/storage';
import type { Kysely } from 'kysely';

/** Tables for the relay accounts that commands create. Timestamps are in Unix milliseconds. */
export interface RelayAccountTables {
  /** One row per relay. At most one is `enabled`. */
  relay_accounts: {
    /** Base URL of the relay. */
    url: string;
    /** UUID that identifies this server at the relay. The server chooses it. */
    server_id: string;
    /**
     * - `joining`: the relay has not confirmed the registration; another attempt sends the same id and key
     * - `enabled`: in use
     * - `leaving`: not in use; the relay has not yet confirmed that it has deactivated this server
     * - `disabled`: not in use; kept so that the server can return to the relay under the same id
     */
    state: 'joining' | 'enabled' | 'leaving' | 'disabled';
    /** This server's host name at the relay, with a port if it is not 443. */
    hostname: string;
    contact_email: string;
    /** The server key, encrypted by `sealServerKey`. */
    sealed_key: string;
    /** The new key of an unfinished rotation, stored before it is sent to the relay; otherwise `null`. */
    sealed_new_key: string | null;
    /** The relay's signing key, in base64; `null` for a relay that publishes no key list. */
    signing_public_key: string | null;
    changed_at: number;
  };
  /** The secret that proves to a relay, during a transfer, that this server owns its host. At most one row. */
  host_challenges: {
    access_token_hash: string;
    verification_secret: string;
    expires_at: number;
  };
}

export async function createRelayAccounts(db: Kysely<unknown>): Promise<void> {
  const { integer, text } = columnTypes;
  await db.schema
    .createTable('relay_accounts')
    .addColumn('url', text, (column) => column.primaryKey())
    .addColumn('server_id', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('hostname', text, (column) => column.notNull())
    .addColumn('contact_email', text, (column) => column.notNull())
    .addColumn('sealed_key', text, (column) => column.notNull())
    .addColumn('sealed_new_key', text)
    .addColumn('signing_public_key', text)
    .addColumn('changed_at', integer, (column) => column.notNull())
    .execute();
}

export async function createHostChallenges(db: Kysely<unknown>): Promise<void> {
  const { integer, text } = columnTypes;
  await db.schema
    .createTable('host_challenges')
    .addColumn('access_token_hash', text, (column) => column.primaryKey())
    .addColumn('verification_secret', text, (column) => column.notNull())
    .addColumn('expires_at', integer, (column) => column.notNull())
    .execute();
}
