import { ProtocolError } from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';
import { rateLimitHit } from '@waxwing/service/http';
import type { ServerContext } from '../../context.js';
import { matchesPassword } from '../../platform/authentication/password-hash.js';
import { findPassword, type PasswordUser } from '../../platform/authentication/password-store.js';
import { takeSignInTry } from '../../platform/authentication/sign-in-failure-store.js';

/** A name and password to verify. */
export interface PasswordAttempt {
  readonly name: string;
  readonly password: Secret<string>;
  /** The client's address; `undefined` if unknown. */
  readonly address: string | undefined;
  /** Aborted when the client stops waiting. */
  readonly signal: AbortSignal;
}

/** A person with a verified password, and the hash that it matched. */
export interface VerifiedUser extends PasswordUser {
  readonly passwordHash: string;
}

type Context = Pick<ServerContext, 'addressFailures' | 'clock' | 'database' | 'hashQueue'>;

const waitAgainSeconds = 1;

/**
 * Verifies a password. Checks wait in a queue that is fair to all clients. Each attempt counts against the name and the
 * client's address. An attempt does not count against the address if the sign-in succeeds or no password was tested.
 * @throws ProtocolError AUTHENTICATION_FAILED for an unknown name, a person without a password and a wrong password,
 * all after the same amount of work; USER_DEACTIVATED for a deactivated user with the correct password; RATE_LIMIT_HIT
 * for a name or address with too many failures, and if the queue is full.
 */
export async function provePassword(context: Context, claim: PasswordAttempt): Promise<VerifiedUser> {
  const { addressFailures, clock, hashQueue } = context;
  const { address, name, signal } = claim;
  const wait = address === undefined ? undefined : addressFailures.take(address, clock());
  if (wait !== undefined) throw rateLimitHit('sign-in from this address', wait);
  const giveBack = () => {
    if (address !== undefined) addressFailures.giveBack(address);
  };
  const holder = await hashQueue
    .run({ client: address ?? name, signal }, () => prove(context, claim))
    .catch((error: unknown) => {
      giveBack();
      throw error;
    });
  if (holder === undefined) throw new ProtocolError('AUTHENTICATION_FAILED');
  if (!holder.isActive) throw new ProtocolError('USER_DEACTIVATED');
  giveBack();
  return holder;
}

/**
 * Returns the person with this name and password, or `undefined` if they do not match. If this throws, no password
 * was tested.
 */
async function prove(
  { clock, database }: Context,
  { name, password }: PasswordAttempt,
): Promise<VerifiedUser | undefined> {
  const taken = await database.write((transaction) => takeSignInTry(transaction, name, clock()));
  if (taken.kind !== 'taken') {
    throw rateLimitHit(
      'sign-in with this name',
      taken.kind === 'locked' ? taken.waitSeconds : waitAgainSeconds,
    );
  }
  const { hash, holder } = await findPassword(database.db, name);
  const isRight = await matchesPassword(password, hash);
  const found = isRight ? holder() : undefined;
  return found === undefined || hash === undefined ? undefined : { ...found, passwordHash: hash };
}
