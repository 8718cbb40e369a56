import { CommandError } from '@waxwing/service/command-line';
import type { Secret } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import { lockDetails } from '../../people/users/user-details.js';
import type { User } from '../../people/users/user-store.js';
import {
  hashPassword,
  isPasswordLength,
  passwordLength,
} from '../../platform/authentication/password-hash.js';
import { storePassword } from '../../platform/authentication/password-store.js';
import { forgetSignInFailures } from '../../platform/authentication/sign-in-failure-store.js';
import type { ServerDatabase } from '../../tables.js';
import { commandContext } from './command-context.js';
import { endAccess } from './end-access.js';
import { requireUser } from './manage-users.js';

/** The result of {@link setPassword}. */
export interface UserWithNewPassword {
  readonly user: User;
  /** Number of the user's invitations that were revoked. */
  readonly revokedInvitations: number;
}

/**
 * Sets a user's password. Revokes the user's sign-in keys and invitations, and removes the user's push devices, because
 * an attacker who knew the old password may have created them.
 * @throws CommandError for an unknown address, a bot, and a password that is too short or too long.
 */
export async function setPassword(
  database: ServerDatabase,
  clock: Clock,
  email: string,
  ask: () => Promise<Secret<string>>,
): Promise<UserWithNewPassword> {
  const user = await requireUser(database, email);
  if (user.isBot) throw new CommandError(`${user.email} is a bot: bots have API keys and no passwords.`);
  const password = await ask();
  if (!isPasswordLength(password.reveal())) {
    const { minimum, maximum } = passwordLength;
    throw new CommandError(`A password must have ${minimum} to ${maximum} characters; nothing was changed.`);
  }
  const hash = await hashPassword(password);
  const context = commandContext(database, clock);
  const revokedInvitations = await database.write(async (transaction) => {
    await lockDetails(transaction, { kind: 'id', id: user.id }, user);
    await storePassword(transaction.db, user.id, hash);
    await forgetSignInFailures(transaction, user.email);
    return endAccess(context, transaction, user.id);
  });
  return { user, revokedInvitations };
}
