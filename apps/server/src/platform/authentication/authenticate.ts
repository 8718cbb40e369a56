import { type ErrorCode, ProtocolError } from '@waxwing/protocol';
import { hashCredential, matchesCredential } from '@waxwing/service/config';
import type { ActorKind, RequestHead } from '@waxwing/service/http';
import type { ServerDatabase, ServerTransaction } from '../../tables.js';
import { findCredential, type KnownUser, lockUser } from './credential-store.js';
import { requireAdministrator } from './require-administrator.js';
import { requireHuman, requireMember, requireNoGuest } from './require-member.js';

/**
 * The user or bot that sent the request, in its state at authentication. Operations write to the database only
 * through `change` and `changeMany`.
 */
export interface Requester extends KnownUser {
  /**
   * Runs `work` in a transaction with the requester's current state, and locks the requester's key and role until the
   * transaction ends. `first` runs before these locks are taken, for locks that must precede the lock on the user.
   * With `isBatchFirst` (default: true if `first` is given), `first` also runs before the other writes in the batch,
   * because the lock on groups must precede their locks.
   * @throws ProtocolError INVALID_API_KEY if the requester was deactivated or their key was replaced since
   * authentication; the errors of the actor kind if the requester no longer qualifies; and the errors of `work`.
   */
  change<Result>(
    work: (transaction: ServerTransaction, locked: KnownUser) => Promise<Result>,
    first?: (transaction: ServerTransaction) => Promise<void>,
    options?: { readonly isBatchFirst?: boolean },
  ): Promise<Result>;
  /**
   * Like {@link change}, for work that may write up to `rows` rows. If there are many rows, uses a separate commit
   * (`writeSingle`), because other users' writes in a shared commit would have to wait.
   */
  changeMany<Result>(
    rows: number,
    work: (transaction: ServerTransaction, locked: KnownUser) => Promise<Result>,
    first?: (transaction: ServerTransaction) => Promise<void>,
  ): Promise<Result>;
}

type AnyRequesterKind = ActorKind<{ readonly database: ServerDatabase }, Requester>;
type RequesterKind = AnyRequesterKind & Required<Pick<AnyRequesterKind, 'authenticate'>>;

interface Demand {
  readonly name: string;
  readonly description: string;
  /** The error codes that `demand` can throw. */
  readonly codes: readonly ErrorCode[];
  /**
   * Throws if the user does not qualify for this kind of actor. Runs before parameters are parsed, and again in each
   * transaction.
   */
  demand(user: KnownUser): void;
}

function requesterKind({ name, description, codes, demand }: Demand): RequesterKind {
  return {
    name,
    description,
    codes: [...new Set<ErrorCode>(['BAD_REQUEST', 'INVALID_API_KEY', 'UNAUTHORIZED', ...codes])],
    async authenticate({ database }, head) {
      const known = await authenticateUser(database, head);
      demand(known);
      const change: Requester['change'] = (work, first, { isBatchFirst = first !== undefined } = {}) => {
        const write = isBatchFirst ? database.writeFirst : database.write;
        return write(withLocked(known, demand, work, first));
      };
      return {
        ...known,
        change,
        async changeMany(rows, work, first) {
          if (rows <= mostRowsOfSharedCommit) return change(work, first);
          const { result } = await database.writeSingle(withLocked(known, demand, work, first));
          return result;
        },
      };
    },
  };
}

const mostRowsOfSharedCommit = 200;

function withLocked<Result>(
  known: KnownUser,
  demand: Demand['demand'],
  work: (transaction: ServerTransaction, locked: KnownUser) => Promise<Result>,
  first: ((transaction: ServerTransaction) => Promise<void>) | undefined,
) {
  return async (transaction: ServerTransaction) => {
    await first?.(transaction);
    const locked = await lockRequester(transaction, known);
    demand(locked);
    return work(transaction, locked);
  };
}

/** Any user or bot. */
export const user = requesterKind({
  name: 'user',
  description: "A user's or bot's e-mail address and API key.",
  codes: [],
  demand: () => undefined,
});

/** Any user except bots. */
export const human = requesterKind({
  name: 'human',
  description: "A user's e-mail address and API key; bots are refused.",
  codes: ['BAD_REQUEST'],
  demand: requireHuman,
});

/** Any user except guests and bots. */
export const member = requesterKind({
  name: 'member',
  description: "A user's e-mail address and API key; bots and guests are refused.",
  codes: ['BAD_REQUEST'],
  demand: requireMember,
});

/** Any user or bot except guests. */
export const nonGuest = requesterKind({
  name: 'nonGuest',
  description: "A user's or bot's e-mail address and API key; guests are refused.",
  codes: ['BAD_REQUEST'],
  demand: requireNoGuest,
});

/** Administrators and owners, including bots. */
export const administrator = requesterKind({
  name: 'administrator',
  description: "An administrator's or owner's e-mail address and API key.",
  codes: ['UNAUTHORIZED_PRINCIPAL'],
  demand: requireAdministrator,
});

/**
 * Authenticates a request by email address and API key (HTTP Basic). Clients cannot distinguish an unknown address, a
 * deactivated user and a wrong key: all three get the same response after the same amount of work.
 * @throws ProtocolError UNAUTHORIZED if the credentials are missing, INVALID_API_KEY if they are wrong.
 */
export async function authenticateUser(database: ServerDatabase, head: RequestHead): Promise<KnownUser> {
  const { username, password } = head.basicCredentials();
  const key = password.reveal();
  const { apiKeyHash, user } = await findCredential(database.db, {
    email: username,
    keyHash: hashCredential(key),
  });
  const found = matchesCredential(key, apiKeyHash) ? user() : undefined;
  if (found === undefined) throw new ProtocolError('INVALID_API_KEY');
  head.setActor(`user ${found.id}`);
  return found;
}

/**
 * Locks a user until the transaction ends, and returns the user's current state. The role may have changed since
 * authentication.
 * @throws ProtocolError INVALID_API_KEY if the user was deactivated or their key was replaced since authentication.
 */
export async function lockRequester(transaction: ServerTransaction, user: KnownUser): Promise<KnownUser> {
  const locked = await lockUser(transaction, user);
  if (locked === undefined) throw new ProtocolError('INVALID_API_KEY');
  return locked;
}
