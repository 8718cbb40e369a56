import { CommandError } from '@waxwing/service/command-line';
import type { Secret } from '@waxwing/service/config';
import { hashPassword, isPasswordLength, passwordLength } from '../authentication/password-hash.js';
import { storePassword } from '../authentication/password-store.js';
import { forgetSignInFailures } from '../authentication/sign-in-failure-store.js';
import { deleteSignInKeys } from '../authentication/sign-in-key-store.js';
import type { ServerDatabase } from '../tables.js';
import { requireUser } from './manage-users.js';
import { lockDetails } from './user-details.js';
import type { User } from './user-store.js';

/**
 * Gives a user a password in place of any other; wherever it signed in with that, it must sign in again.
 * @throws CommandError for an unknown address, a bot, and a password that is too short or too long.
 */
export async function setPassword(
  database: ServerDatabase,
  email: string,
  ask: () => Promise<Secret<string>>,
): Promise<User> {
  const user = await requireUser(database, email);
  if (user.isBot) throw new CommandError(`${user.email} is a bot: bots have API keys and no passwords.`);
  const password = await ask();
  if (!isPasswordLength(password.reveal())) {
    const { minimum, maximum } = passwordLength;
    throw new CommandError(`A password has ${minimum} to ${maximum} characters: nothing was changed.`);
  }
  const hash = await hashPassword(password);
  await database.write(async (transaction) => {
    const { db } = transaction;
    await lockDetails(transaction, { kind: 'id', id: user.id }, user);
    await storePassword(db, user.id, hash);
    await deleteSignInKeys(db, user.id);
    await forgetSignInFailures(transaction, user.email);
  });
  return user;
}
