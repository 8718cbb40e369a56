import { type ErrorCode, ProtocolError } from '@waxwing/protocol';
import { hashCredential, matchesCredential } from '@waxwing/service/config';
import type { ActorKind, RequestHead } from '@waxwing/service/http';
import type { ServerDatabase, ServerTransaction } from '../tables.js';
import { findCredential, type KnownUser, lockUser } from './credential-store.js';
import { requireAdministrator } from './require-administrator.js';
import { requireHuman, requireMember } from './require-member.js';

/** Who asks, as it was when it was authenticated. Operations change something through it alone. */
export interface Requester extends KnownUser {
  /**
   * Runs `work` in a transaction. It is given the requester as it is now; neither its key nor its role can change until
   * the transaction ends. `first` runs before that, for a lock that must be taken before a user's.
   * @throws ProtocolError INVALID_API_KEY when it was removed, or given another key, since it was authenticated; what
   * its kind refuses with when it is no longer of that kind; and what `work` throws.
   */
  change<Result>(
    work: (transaction: ServerTransaction, held: KnownUser) => Promise<Result>,
    first?: (transaction: ServerTransaction) => Promise<void>,
  ): Promise<Result>;
  /** As {@link change}, for work that takes long: it holds up no writes of others, as `writeAlone` says. */
  changeAlone<Result>(
    work: (transaction: ServerTransaction, held: KnownUser) => Promise<Result>,
  ): Promise<Result>;
}

type AnyRequesterKind = ActorKind<{ readonly database: ServerDatabase }, Requester>;
type RequesterKind = AnyRequesterKind & Required<Pick<AnyRequesterKind, 'authenticate'>>;

interface Demand {
  readonly name: string;
  readonly description: string;
  /** What `demand` refuses with. */
  readonly codes: readonly ErrorCode[];
  /** Throws for whoever is not of this kind. It is asked before parameters are read, and again in each transaction. */
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
      const hold = async (transaction: ServerTransaction) => {
        const held = await holdUser(transaction, known);
        demand(held);
        return held;
      };
      return {
        ...known,
        change: (work, first) =>
          database.write(async (transaction) => {
            await first?.(transaction);
            return work(transaction, await hold(transaction));
          }),
        async changeAlone(work) {
          const { result } = await database.writeAlone(async (transaction) =>
            work(transaction, await hold(transaction)),
          );
          return result;
        },
      };
    },
  };
}

/** Requesters that are users or bots. */
export const user = requesterKind({
  name: 'user',
  description: "A user's or bot's e-mail address and API key.",
  codes: [],
  demand: () => undefined,
});

/** Requesters that are no bots. */
export const human = requesterKind({
  name: 'human',
  description: "A user's e-mail address and API key; bots are refused.",
  codes: ['BAD_REQUEST'],
  demand: requireHuman,
});

/** Requesters that are neither bots nor guests. */
export const member = requesterKind({
  name: 'member',
  description: "A user's e-mail address and API key; bots and guests are refused.",
  codes: ['BAD_REQUEST'],
  demand: requireMember,
});

/** Requesters that administer the organisation; owners do, and bots may. */
export const administrator = requesterKind({
  name: 'administrator',
  description: "An administrator's or owner's e-mail address and API key.",
  codes: ['UNAUTHORIZED_PRINCIPAL'],
  demand: requireAdministrator,
});

/**
 * The user whose e-mail address and API key came with a request (HTTP Basic). An unknown address, a removed user and
 * a wrong key are answered alike, after the same work.
 * @throws ProtocolError UNAUTHORIZED without credentials, INVALID_API_KEY with wrong ones.
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
 * Keeps a user as it is until the transaction ends; its role may be another one than when it was authenticated.
 * @throws ProtocolError INVALID_API_KEY when it was removed, or given another key, since.
 */
export async function holdUser(transaction: ServerTransaction, user: KnownUser): Promise<KnownUser> {
  const held = await lockUser(transaction, user);
  if (held === undefined) throw new ProtocolError('INVALID_API_KEY');
  return held;
}
