import { ProtocolError } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { CommandError } from '@waxwing/service/command-line';
import { hashCredential, type Secret } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import type { RowFilter } from '@waxwing/storage';
import { subscribeToDefaults } from '../../conversations/channels/default-channels.js';
import { checkedIdentity, createUser } from '../../people/users/create-user.js';
import { lockDetails } from '../../people/users/user-details.js';
import { findUser, listUsers, storeMayChangeAddresses, type User } from '../../people/users/user-store.js';
import { generateApiKey } from '../../platform/authentication/api-key.js';
import type { Role } from '../../platform/authentication/roles.js';
import type { ServerDatabase } from '../../tables.js';
import { commandContext } from './command-context.js';
import { replaceApiKey } from './end-access.js';

export interface UserToAdd {
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isBot: boolean;
  /** Email address of the bot's owner. */
  readonly ownerEmail: string | undefined;
}

/** A user and their API key. The key cannot be read again later. */
export interface ProvisionedUser {
  readonly user: User;
  readonly apiKey: Secret<string>;
}

/** The context of {@link addUser}. */
export interface UserAdministration {
  readonly clock: Clock;
  readonly realm: Pick<PushRealm, 'url'>;
}

/**
 * Runs the checks that need no database. Call this before opening the database, so that a mistake does not create an
 * empty database.
 * @throws CommandError for an address that is invalid or reserved, and for an invalid name.
 */
export function checkUserToAdd(wanted: UserToAdd, { realm }: Pick<UserAdministration, 'realm'>): void {
  try {
    checkedIdentity(wanted, realm);
  } catch (error) {
    rethrow(error);
  }
}

/**
 * Adds a user or bot, subscribes them to the default channels, and publishes events to clients.
 * @throws CommandError for an address that is invalid or taken, an invalid name, or an unknown owner.
 */
export async function addUser(
  database: ServerDatabase,
  { clock, realm }: UserAdministration,
  { email, fullName, role, isBot, ownerEmail }: UserToAdd,
): Promise<ProvisionedUser> {
  if (ownerEmail !== undefined && !isBot) throw new CommandError('Only bots have owners: add --bot.');
  const present = await findUser(database.db, email);
  if (present !== undefined) {
    throw new CommandError(
      `A user with the address ${present.email} already exists: choose another address, or run "waxwing-server users rotate-key ${present.email}" to give this user a new API key.`,
    );
  }
  const owner = ownerEmail === undefined ? undefined : await requireUser(database, ownerEmail);
  if (owner?.isBot) throw new CommandError(`${owner.email} is a bot: only a person can own a bot.`);
  const apiKey = generateApiKey();
  const apiKeyHash = hashCredential(apiKey.reveal());
  const { publish } = commandContext(database, clock);
  const now = clock();
  try {
    const wanted = { email, fullName, role, isBot, botOwnerId: owner?.id, apiKeyHash };
    const user = await database.write(async (transaction) => {
      const user = await createUser(transaction, { publish, realm, now }, wanted);
      await publish(transaction, await subscribeToDefaults(transaction, user.id, now));
      return user;
    });
    return { user, apiKey };
  } catch (error) {
    rethrow(error);
  }
}

function rethrow(error: unknown): never {
  throw error instanceof ProtocolError ? new CommandError(error.message) : error;
}

/** Yields pages of the matching active users and bots, oldest first. */
export function allUsers(database: ServerDatabase, filter: RowFilter = {}): AsyncGenerator<User[]> {
  return listUsers(database.db, filter);
}

/** The result of {@link rotateApiKey}. */
export interface RotatedUser extends ProvisionedUser {
  /** Number of the user's invitations that were revoked. */
  readonly revokedInvitations: number;
}

/**
 * Replaces all API keys of a user with a new key, removes the user's push devices and event queues, and revokes their
 * invitations.
 * @throws CommandError for an unknown address.
 */
export async function rotateApiKey(
  database: ServerDatabase,
  clock: Clock,
  email: string,
): Promise<RotatedUser> {
  const user = await requireUser(database, email);
  const context = commandContext(database, clock);
  const { apiKey, revokedInvitations } = await database.write(async (transaction) => {
    await lockDetails(transaction, { kind: 'id', id: user.id }, user);
    return replaceApiKey(context, transaction, user.id);
  });
  return { user, apiKey, revokedInvitations };
}

/**
 * Grants or revokes the special permission to change other users' addresses. Only owners can use this permission.
 * @throws CommandError for an unknown address.
 */
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
 * Returns the active user with this address.
 * @throws CommandError if there is no such user.
 */
export async function requireUser(database: ServerDatabase, email: string): Promise<User> {
  const user = await findUser(database.db, email);
  if (user === undefined) {
    throw new CommandError(
      `There is no user with the address ${email}: run "waxwing-server users list" to list all users.`,
    );
  }
  return user;
}
