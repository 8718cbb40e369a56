import { ProtocolError, refused, type UserId } from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';
import type { ServerContext } from '../../context.js';
import {
  hashPassword,
  isPasswordLength,
  passwordLength,
} from '../../platform/authentication/password-hash.js';
import { hasPasswordHash, storePassword } from '../../platform/authentication/password-store.js';
import { forgetSignInFailures } from '../../platform/authentication/sign-in-failure-store.js';
import type { ServerTransaction } from '../../tables.js';
import { revokeInvitationsOf } from '../invitations/revoke-invitations-of.js';
import { type PasswordAttempt, provePassword } from '../sign-in/prove-password.js';

/** A password change whose old password has been verified. */
export interface NewPassword {
  /** The user's email address. */
  readonly name: string;
  readonly oldHash: string;
  readonly newHash: string;
}

/**
 * Performs the slow part of a password change before the transaction: verifies the old password, which counts as a
 * sign-in attempt, and hashes the new one.
 * @throws ProtocolError BAD_REQUEST for a wrong old password, and for a new password that is too short or too long;
 * RATE_LIMIT_HIT after too many failures.
 */
export async function prepareNewPassword(
  context: ServerContext,
  claim: PasswordAttempt,
  wanted: Secret<string>,
): Promise<NewPassword> {
  if (!isPasswordLength(wanted.reveal())) {
    const { minimum, maximum } = passwordLength;
    throw refused(`Invalid new_password: a password must have ${minimum} to ${maximum} characters`);
  }
  const { passwordHash: oldHash } = await provePassword(context, claim).catch((error: unknown) => {
    const isRefused = error instanceof ProtocolError && error.code !== 'RATE_LIMIT_HIT';
    throw isRefused ? wrongPassword() : error;
  });
  const { address, name, signal } = claim;
  const newHash = await context.hashQueue.run({ client: address ?? name, signal }, () =>
    hashPassword(wanted),
  );
  return { name, oldHash, newHash };
}

/**
 * Stores the new password of a locked user. Revokes the user's invitations, because an attacker who knew the old
 * password may have created them. API keys stay valid. Returns the number of revoked invitations.
 * @throws ProtocolError BAD_REQUEST if the old password was replaced in the meantime.
 */
export async function storeNewPassword(
  context: Pick<ServerContext, 'clock' | 'publish'>,
  transaction: ServerTransaction,
  id: UserId,
  { name, oldHash, newHash }: NewPassword,
): Promise<number> {
  if (!(await hasPasswordHash(transaction.db, id, oldHash))) throw wrongPassword();
  await storePassword(transaction.db, id, newHash);
  await forgetSignInFailures(transaction, name);
  return revokeInvitationsOf(context, transaction, id);
}

function wrongPassword(): ProtocolError {
  return refused('Wrong password!');
}
