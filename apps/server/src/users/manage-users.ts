import type { UserId } from '@waxwing/protocol';
import { removePushDevicesOf } from '@waxwing/server-push';
import { CommandError } from '@waxwing/service/command-line';
import { generateCredential, hashCredential, type Secret } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import { storeApiKeyHash } from '../authentication/credential-store.js';
import { deleteQueuesOf } from '../event-queues/event-queue-store.js';
import { settleRoleGroups } from '../groups/settle-role-groups.js';
import type { Role } from '../permissions/roles.js';
import { readRealmSettings } from '../realm/realm-setting-store.js';
import type { ServerDatabase } from '../tables.js';
import { isEmailAddress } from './email-address.js';
import { holdUsers } from './user-facts.js';
import {
  deactivateUser,
  findUser,
  insertUser,
  listUsers,
  storeMayChangeAddresses,
  type User,
} from './user-store.js';

export interface UserToAdd {
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isBot: boolean;
  /** Address of the user whom a bot belongs to. */
  readonly ownerEmail: string | undefined;
}

const maximumNameCharacters = 100;

/** A user and its API key, which is nowhere to be had again. */
export interface ProvisionedUser {
  readonly user: User;
  readonly apiKey: Secret<string>;
}

/** @throws CommandError for an address that is not one or is taken, a bad name, or an unknown owner. */
export async function addUser(
  database: ServerDatabase,
  clock: Clock,
  { email, fullName, role, isBot, ownerEmail }: UserToAdd,
): Promise<ProvisionedUser> {
  if (!isEmailAddress(email)) {
    throw new CommandError(`"${email}" is not an e-mail address: write one such as ada@example.com.`);
  }
  if (fullName.trim() === '' || fullName.length > maximumNameCharacters) {
    throw new CommandError(`The name must have 1 to ${maximumNameCharacters} characters.`);
  }
  if (ownerEmail !== undefined && !isBot) throw new CommandError('Only a bot has an owner: add --bot.');
  const owner = ownerEmail === undefined ? undefined : await requireUser(database, ownerEmail);
  if (owner?.isBot) throw new CommandError(`${owner.email} is a bot: a bot belongs to a person.`);
  const apiKey = generateCredential();
  const user = { email, fullName, role, isBot, botOwnerId: owner?.id };
  const apiKeyHash = hashCredential(apiKey.reveal());
  const now = clock();
  const id = await database.write(async ({ db }) => {
    await holdUsers(db);
    const id = await insertUser(db, { ...user, apiKeyHash }, now);
    if (id === undefined) return undefined;
    const { waiting_period_threshold: waitingPeriodDays } = await readRealmSettings(db);
    await settleRoleGroups(db, { userIds: [id], waitingPeriodDays, now });
    return id;
  });
  if (id === undefined) {
    throw new CommandError(
      `There is a user with the address ${email} already: rotate its key, or remove it first.`,
    );
  }
  return { user: { ...user, id }, apiKey };
}

export async function allUsers(database: ServerDatabase): Promise<User[]> {
  return listUsers(database.db);
}

/** Replaces a user's API key and removes its push devices. @throws CommandError for an unknown address. */
export async function rotateApiKey(
  database: ServerDatabase,
  clock: Clock,
  email: string,
): Promise<ProvisionedUser> {
  const user = await requireUser(database, email);
  const apiKey = generateCredential();
  const hash = hashCredential(apiKey.reveal());
  const now = clock();
  await database.write(async (transaction) => {
    await storeApiKeyHash(transaction.db, user.id, hash);
    await removePushDevicesOf(database, transaction, user.id, now);
  });
  return { user, apiKey };
}

/** Lets a user, or no longer lets it, give others another address while it is an owner. @throws CommandError for an unknown address. */
export async function letChangeAddresses(
  database: ServerDatabase,
  email: string,
  isAllowed: boolean,
): Promise<User> {
  const user = await requireUser(database, email);
  await database.write(({ db }) => storeMayChangeAddresses(db, user.id, isAllowed));
  return user;
}

/**
 * Removes a user and the bots that belong to it, with their push devices and event queues; the ids of all of them.
 * @throws CommandError for an unknown address.
 */
export async function removeUser(
  database: ServerDatabase,
  clock: Clock,
  email: string,
): Promise<readonly UserId[]> {
  const user = await requireUser(database, email);
  const now = clock();
  return database.write(async (transaction) => {
    const ids = await deactivateUser(transaction.db, user.id);
    for (const id of ids) {
      await removePushDevicesOf(database, transaction, id, now);
      await deleteQueuesOf(transaction.db, id);
    }
    return ids;
  });
}

/** @throws CommandError when no active user has the address. */
export async function requireUser(database: ServerDatabase, email: string): Promise<User> {
  const user = await findUser(database.db, email);
  if (user === undefined) {
    throw new CommandError(
      `There is no user with the address ${email}: waxwing-server users list shows all.`,
    );
  }
  return user;
}
