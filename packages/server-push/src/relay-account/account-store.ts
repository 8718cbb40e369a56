import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Kysely, Selectable } from 'kysely';
import type { RealmPushStatus } from '../relay-link/realm-push-status.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';

/** A relay account as stored. */
export type StoredAccount = Selectable<ServerPushTables['relay_accounts']>;

type Database = Pick<DatabaseWithJobs<ServerPushTables>, 'write' | 'signals'>;

/** Signal that the account in use may have changed. */
export const relayAccountChannel = 'relay-account';

/** Finds the account in use. Returns `undefined` if push is not enabled. */
export function enabledAccount(db: Kysely<ServerPushTables>): Promise<StoredAccount | undefined> {
  return db.selectFrom('relay_accounts').selectAll().where('state', '=', 'enabled').executeTakeFirst();
}

/** Reads all accounts, most recently changed first. */
export function allAccounts(db: Kysely<ServerPushTables>): Promise<StoredAccount[]> {
  return db.selectFrom('relay_accounts').selectAll().orderBy('changed_at', 'desc').execute();
}

/** Finds the account at a relay by the relay's URL. */
export function accountAt(db: Kysely<ServerPushTables>, url: string): Promise<StoredAccount | undefined> {
  return db.selectFrom('relay_accounts').selectAll().where('url', '=', url).executeTakeFirst();
}

/**
 * Stores a new account before the first request to the relay. If an account is already stored, for example by a
 * concurrent command, keeps that account and updates its date. Returns the row.
 */
export async function storeAccount(database: Database, account: StoredAccount): Promise<StoredAccount> {
  return database.write(async ({ db }) => {
    const { changed_at } = account;
    await db
      .insertInto('relay_accounts')
      .values(account)
      .onConflict((conflict) => conflict.column('url').doUpdateSet({ changed_at }))
      .execute();
    return db
      .selectFrom('relay_accounts')
      .selectAll()
      .where('url', '=', account.url)
      .executeTakeFirstOrThrow();
  });
}

/** Stores an account with credentials that a relay issued. Replaces any stored account at this relay. */
export async function adoptAccount(database: Database, { url, ...account }: StoredAccount): Promise<void> {
  await database.write(({ db }) =>
    db
      .insertInto('relay_accounts')
      .values({ url, ...account })
      .onConflict((conflict) => conflict.column('url').doUpdateSet(account))
      .execute(),
  );
}

/** The fields of an account that a relay has confirmed. */
type ConfirmedAccount = Pick<StoredAccount, 'url' | 'hostname' | 'contact_email' | 'signing_public_key'>;

/**
 * Puts a confirmed account into use in every process. Replaces the recorded state of the previous link with the push
 * status from the relay's response.
 */
export async function enableAccount(
  database: Database,
  { url, ...confirmed }: ConfirmedAccount,
  pushStatus: RealmPushStatus | undefined,
  now: number,
): Promise<void> {
  await database.write(async (transaction) => {
    const { db } = transaction;
    await db
      .updateTable('relay_accounts')
      .set({ state: 'disabled', changed_at: now })
      .where('state', '=', 'enabled')
      .where('url', '<>', url)
      .execute();
    await db
      .updateTable('relay_accounts')
      .set({ ...confirmed, state: 'enabled', changed_at: now })
      .where('url', '=', url)
      .execute();
    await db.deleteFrom('relay_link').execute();
    if (pushStatus !== undefined) {
      const { canPush, endTimestamp } = pushStatus;
      const status = { can_push: canPush ? 1 : 0, push_end_timestamp: endTimestamp };
      await db
        .insertInto('relay_link')
        .values({ id: 1, ...status })
        .execute();
    }
    await announceChange(database, transaction);
  });
}

/**
 * Stops every process from using the account. Returns the account, now in the state `leaving`, or an account that an
 * earlier call left in this state. Returns `undefined` if there is neither.
 */
export async function disableAccount(database: Database, now: number): Promise<StoredAccount | undefined> {
  return database.write(async (transaction) => {
    const { db } = transaction;
    const disabled = await db
      .updateTable('relay_accounts')
      .set({ state: 'leaving', changed_at: now })
      .where('state', '=', 'enabled')
      .returningAll()
      .executeTakeFirst();
    if (disabled !== undefined) {
      await announceChange(database, transaction);
      return disabled;
    }
    const leaving = db.selectFrom('relay_accounts').selectAll().where('state', '=', 'leaving');
    return leaving.orderBy('changed_at', 'desc').limit(1).executeTakeFirst();
  });
}

/** Records that the server has left the relay. Does nothing if the account is in use again. */
export async function markLeft({ write }: Pick<Database, 'write'>, url: string, now: number): Promise<void> {
  await write(({ db }) =>
    db
      .updateTable('relay_accounts')
      .set({ state: 'disabled', changed_at: now })
      .where('url', '=', url)
      .where('state', '=', 'leaving')
      .execute(),
  );
}

/** Deletes all accounts. */
export async function forgetAccounts(database: Database): Promise<void> {
  await database.write(async (transaction) => {
    await transaction.db.deleteFrom('relay_accounts').execute();
    await announceChange(database, transaction);
  });
}

/**
 * Stores a new key before it is sent to the relay. If an earlier rotation did not finish, keeps and returns its key.
 */
export async function storeNewKey(database: Database, url: string, sealed: string): Promise<string> {
  return database.write(async ({ db }) => {
    await db
      .updateTable('relay_accounts')
      .set({ sealed_new_key: sealed })
      .where('url', '=', url)
      .where('sealed_new_key', 'is', null)
      .execute();
    const row = await db
      .selectFrom('relay_accounts')
      .select('sealed_new_key')
      .where('url', '=', url)
      .executeTakeFirstOrThrow();
    return row.sealed_new_key ?? sealed;
  });
}

/** Replaces the old key with the new key in every process. */
export async function adoptNewKey(
  database: Database,
  { url, sealed, now }: { url: string; sealed: string; now: number },
): Promise<void> {
  await database.write(async (transaction) => {
    await transaction.db
      .updateTable('relay_accounts')
      .set({ sealed_key: sealed, sealed_new_key: null, changed_at: now })
      .where('url', '=', url)
      .where('sealed_new_key', '=', sealed)
      .execute();
    await announceChange(database, transaction);
  });
}

function announceChange({ signals }: Database, transaction: PushTransaction): Promise<void> {
  return signals.notify(transaction, relayAccountChannel, '');
}
