import { ProtocolError, type UserId } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { hashCredential } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import { lockGroups } from '../../people/permissions/lock-groups.js';
import { lockDetails, type UserDetails } from '../../people/users/user-details.js';
import { generateApiKey } from '../../platform/authentication/api-key.js';
import { storeApiKeyHash } from '../../platform/authentication/credential-store.js';
import { roles } from '../../platform/authentication/roles.js';
import { addressKey } from '../../platform/names/address-key.js';
import type { ServerDatabase, ServerTransaction } from '../../tables.js';
import { commandContext } from './command-context.js';
import { type Deactivation, deactivate } from './deactivate.js';
import type { AccessContext } from './end-access.js';
import { type ProvisionedUser, requireUser } from './manage-users.js';
import { reactivate } from './reactivate.js';

/**
 * Deactivates a user and their bots, revokes their keys and invitations, removes their push devices and event queues,
 * and publishes events.
 * @throws CommandError for an unknown address, and for the only owner.
 */
export async function deactivateByAddress(
  database: ServerDatabase,
  clock: Clock,
  email: string,
): Promise<Deactivation> {
  const { id } = await requireUser(database, email);
  return change(database, clock, async (context, transaction) =>
    deactivate(context, transaction, await lockById(transaction, id)),
  );
}

/**
 * Reactivates the user that was last deactivated with this address, and gives the user a new API key.
 * @throws CommandError if there is no such user, or another user now has the address or name.
 */
export async function reactivateByAddress(
  database: ServerDatabase,
  clock: Clock,
  email: string,
): Promise<ProvisionedUser> {
  const apiKey = generateApiKey();
  const user = await change(database, clock, async (context, transaction) => {
    const inactive = await requireInactive(transaction, email);
    await reactivate(context, transaction, await lockById(transaction, inactive));
    await storeApiKeyHash(transaction.db, inactive, hashCredential(apiKey.reveal()));
    return lockById(transaction, inactive);
  });
  return { user, apiKey };
}

function change<Result>(
  database: ServerDatabase,
  clock: Clock,
  work: (context: AccessContext, transaction: ServerTransaction) => Promise<Result>,
): Promise<Result> {
  const context = { ...commandContext(database, clock), database };
  return database
    .writeFirst(async (transaction) => {
      await lockGroups(transaction);
      return work(context, transaction);
    })
    .catch((error: unknown) => {
      throw error instanceof ProtocolError ? new CommandError(error.message) : error;
    });
}

async function lockById(transaction: ServerTransaction, id: UserId): Promise<UserDetails> {
  const found = await lockDetails(transaction, { kind: 'id', id }, { id, role: roles.owner });
  if (found === undefined) throw new Error('the user that was just found has no row');
  return found;
}

async function requireInactive({ db }: ServerTransaction, email: string): Promise<UserId> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('email_lower', '=', addressKey(email))
    .where('is_active', '=', 0)
    .where('system_bot', 'is', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) throw new CommandError(`There is no deactivated user with the address ${email}.`);
  return row.id;
}
