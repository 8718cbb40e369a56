import { refused, type UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { amongNumbers, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { idOfDummyAddress, visibilitiesFor } from '../../people/users/address-visibility.js';
import { readVisibilityOf } from '../../people/users/user-visibility.js';
import { addressKey } from '../../platform/names/address-key.js';
import type { ServerTables } from '../../tables.js';

const principal = z.union(
  [z.number().int().positive(), z.string().min(1).max(320)],
  'must be an id or an e-mail address',
);

/** Parameter for users in a request, each named by id or by an e-mail address that the actor may see. */
export const principalList = z.array(principal, 'must be a list').max(10_000, 'must have at most 10000');

type Principal = z.output<typeof principal>;

/** An active user named in a request. */
interface Named {
  readonly id: UserId;
  readonly isBot: boolean;
}

interface Asking {
  readonly actor: PermissionHolder;
  readonly realm: Pick<PushRealm, 'url'>;
}

/**
 * Resolves principals to the ids of active users, in ascending order.
 * @throws ProtocolError BAD_REQUEST, naming the first principal that is not an active user or that the actor cannot
 * see.
 */
export async function findPrincipals(
  db: Kysely<ServerTables>,
  principals: readonly Principal[],
  { actor, realm }: Asking,
): Promise<UserId[]> {
  const meant = principals.map((name) =>
    typeof name === 'number' ? name : (idOfDummyAddress(name, realm) ?? name),
  );
  const ids = meant.filter((name) => typeof name === 'number');
  const addresses = meant.filter((name) => typeof name === 'string');
  const withIds = await activeAmong(db, ids);
  const withAddresses = await activeWithAddresses(db, addresses, actor);
  const found = [...withIds, ...withAddresses].map(({ id }) => id);
  const sees = await readVisibilityOf(db, actor, found);
  const byId = new Set<number>(withIds.filter(sees).map(({ id }) => id));
  const byAddress = new Map(withAddresses.filter(sees).map(({ id, email }) => [email, id]));
  return ascendingIds(
    meant.map((name, index) => {
      const id = typeof name === 'number' ? name : byAddress.get(addressKey(name));
      if (id === undefined || (typeof name === 'number' && !byId.has(name))) {
        throw refused(`There is no active user ${principals[index]}`);
      }
      return id as UserId;
    }),
  );
}

async function activeAmong(db: Kysely<ServerTables>, ids: readonly number[]): Promise<Named[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .select(['id', 'is_bot'])
    .where('is_active', '=', 1)
    .where('id', 'in', amongNumbers(db, ids as UserId[]))
    .execute();
  return rows.map(({ id, is_bot }) => ({ id, isBot: is_bot === 1 }));
}

async function activeWithAddresses(
  db: Kysely<ServerTables>,
  addresses: readonly string[],
  { id, role }: PermissionHolder,
): Promise<(Named & { readonly email: string })[]> {
  if (addresses.length === 0) return [];
  const rows = addresses.map((email) => ({ email: addressKey(email) }));
  const visible = sql.join(visibilitiesFor(role));
  const found = await sql<{ id: UserId; email_lower: string; is_bot: number }>`
    select users.id, users.email_lower, users.is_bot
    from users join (select distinct v.email from ${rowsAsTable(db, 'v', { email: 'text' }, rows)}) as wanted
      on wanted.email = users.email_lower
    where users.is_active = 1
      and (users.id = ${id} or users.is_bot = 1 or users.email_address_visibility in (${visible}))`.execute(
    db,
  );
  return found.rows.map(({ id, email_lower, is_bot }) => ({ id, email: email_lower, isBot: is_bot === 1 }));
}
