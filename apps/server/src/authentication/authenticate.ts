import { ProtocolError } from '@waxwing/protocol';
import { matchesCredential } from '@waxwing/service/config';
import type { ActorKind, RequestHead } from '@waxwing/service/http';
import type { ServerDatabase, ServerTransaction } from '../tables.js';
import { findCredential, type KnownUser, lockUser } from './credential-store.js';

/** Requesters that are users or bots, as the server's operations declare them. */
export const user: ActorKind<{ readonly database: ServerDatabase }, KnownUser> = {
  name: 'user',
  description: "A user's or bot's e-mail address and API key.",
  codes: ['BAD_REQUEST', 'INVALID_API_KEY', 'UNAUTHORIZED'],
  authenticate: ({ database }, head) => authenticateUser(database, head),
};

/**
 * The user whose e-mail address and API key came with a request (HTTP Basic). An unknown address, a removed user and
 * a wrong key are answered alike, after the same work.
 * @throws ProtocolError UNAUTHORIZED without credentials, INVALID_API_KEY with wrong ones.
 */
export async function authenticateUser(database: ServerDatabase, head: RequestHead): Promise<KnownUser> {
  const { username, password } = head.basicCredentials();
  const { apiKeyHash, user } = await findCredential(database.db, username);
  const found = matchesCredential(password.reveal(), apiKeyHash) ? user() : undefined;
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
