import { ProtocolError } from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';
import { rateLimitHit } from '@waxwing/service/http';
import { matchesPassword } from '../authentication/password-hash.js';
import { findPassword, type PasswordHolder } from '../authentication/password-store.js';
import { takeSignInTry } from '../authentication/sign-in-failure-store.js';
import type { ServerContext } from '../context.js';

/** Who says that a password is theirs. */
export interface PasswordClaim {
  readonly name: string;
  readonly password: Secret<string>;
  /** Where the request comes from; `undefined` where nobody knows. */
  readonly address: string | undefined;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** A holder whose password was right, by what it was checked against. */
export interface ProvenHolder extends PasswordHolder {
  readonly passwordHash: string;
}

type Context = Pick<ServerContext, 'addressFailures' | 'clock' | 'database' | 'hashLine'>;

const waitAgainSeconds = 1;

/**
 * The person whose password it is. It takes its turn among all who want one checked, and counts as a try of the name and of
 * the address; of the address only where the password was tested and is wrong.
 * @throws ProtocolError AUTHENTICATION_FAILED for an unknown name, a person without a password and a wrong one, after the
 * same work; USER_DEACTIVATED for whoever is deactivated and knows its password; RATE_LIMIT_HIT for a name or an address
 * that has failed too often, and where too many wait.
 */
export async function provePassword(context: Context, claim: PasswordClaim): Promise<ProvenHolder> {
  const { addressFailures, clock, hashLine } = context;
  const { address, name, signal } = claim;
  const wait = address === undefined ? undefined : addressFailures.take(address, clock());
  if (wait !== undefined) throw rateLimitHit('sign-in from this address', wait);
  const giveBack = () => {
    if (address !== undefined) addressFailures.giveBack(address);
  };
  const holder = await hashLine
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

/** Whose password it is; `undefined` where it is nobody's. Where it throws, no password was tested. */
async function prove(
  { clock, database }: Context,
  { name, password }: PasswordClaim,
): Promise<ProvenHolder | undefined> {
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
