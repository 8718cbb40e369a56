import { refused, type UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { isAmong } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import {
  type AddressVisibility,
  idOfDummyAddress,
  readsAddress,
} from '../../../people/users/address-visibility.js';
import { readVisibilityOf } from '../../../people/users/user-visibility.js';
import { addressKey } from '../../../platform/names/address-key.js';
import type { ServerTables } from '../../../tables.js';
import type { NamedRecipient } from './read-destination.js';

/** A recipient of a direct message. */
export interface Recipient {
  readonly id: UserId;
  readonly isBot: boolean;
}

type Db = Kysely<ServerTables>;
type Row = Awaited<ReturnType<typeof readUsers>>[number];

/**
 * Finds the recipients that a sender specifies, without duplicates, in a constant number of statements.
 * @throws ProtocolError BAD_REQUEST for users that do not exist or that the sender cannot see, and for deactivated
 * users.
 */
export async function findRecipients(
  db: Db,
  realm: Pick<PushRealm, 'url'>,
  sender: PermissionHolder,
  names: readonly NamedRecipient[],
): Promise<Recipient[]> {
  const ids = names.flatMap((name) =>
    typeof name === 'number' ? name : (idOfDummyAddress(name, realm) ?? []),
  );
  const rows = await readUsers(
    db,
    ids,
    names.flatMap((name) => (typeof name === 'string' ? addressKey(name) : [])),
  );
  const byId = new Map<number, Row>(rows.map((row) => [row.id, row]));
  const known = rows.filter((row) =>
    readsAddress(sender, {
      id: row.id,
      email: row.email_lower,
      isBot: row.is_bot === 1,
      visibility: row.email_address_visibility as AddressVisibility,
    }),
  );
  const byAddress = new Map(known.map((row) => [row.email_lower, row]));
  const sees = await readVisibilityOf(
    db,
    sender,
    rows.map(({ id }) => id),
  );
  const found = names.map((name) => {
    const id = typeof name === 'number' ? name : idOfDummyAddress(name, realm);
    const row = id === undefined ? byAddress.get(addressKey(String(name))) : byId.get(id);
    if (row === undefined || !sees({ id: row.id, isBot: row.is_bot === 1 })) throw unknown(name);
    if (row.is_active === 0) throw refused(`'${row.full_name}' is deactivated and cannot receive messages.`);
    return { id: row.id, isBot: row.is_bot === 1 };
  });
  return [...new Map(found.map((recipient) => [recipient.id, recipient])).values()];
}

function unknown(name: NamedRecipient) {
  return refused(typeof name === 'number' ? `Invalid user ID ${name}` : `Invalid email '${name}'`);
}

/**
 * Reads users by id or address. Returns active users last, so that they take precedence over deactivated users with
 * the same address.
 */
function readUsers(db: Db, ids: readonly number[], addresses: readonly string[]) {
  return db
    .selectFrom('users')
    .select(['id', 'full_name', 'email_lower', 'is_active', 'is_bot', 'email_address_visibility'])
    .where((is) => is.or([isAmong(db, 'id', 'integer', ids), isAmong(db, 'email_lower', 'text', addresses)]))
    .where('system_bot', 'is', null)
    .orderBy('is_active')
    .orderBy('id')
    .execute();
}
