import type { UserId } from '@waxwing/protocol';
import { removePushDevicesOf } from '@waxwing/server-push';
import { hashCredential, type Secret } from '@waxwing/service/config';
import type { ServerContext } from '../../context.js';
import { generateApiKey } from '../../platform/authentication/api-key.js';
import { storeApiKeyHash } from '../../platform/authentication/credential-store.js';
import { deleteSignInKeys } from '../../platform/authentication/sign-in-key-store.js';
import type { ServerTransaction } from '../../tables.js';
import { revokeInvitationsOf } from '../invitations/revoke-invitations-of.js';

/** The parts of the server context that {@link endAccess} needs. */
export type AccessContext = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/**
 * Ends every session of a locked user, including sessions that an attacker opened with a stolen key or password.
 * Removes sign-in keys, event queues with their long polls, push devices, and invitations. Returns the number of
 * revoked invitations. The caller must replace the user's main API key.
 */
export async function endAccess(
  context: AccessContext,
  transaction: ServerTransaction,
  userId: UserId,
): Promise<number> {
  await deleteSignInKeys(transaction.db, userId);
  await removePushDevicesOf(context, transaction, userId);
  await context.publish(transaction, [
    { event: { type: 'realm_user' }, audience: [userId], endsQueues: true },
  ]);
  return revokeInvitationsOf(context, transaction, userId);
}

/** The result of {@link replaceApiKey}. */
export interface ReplacedKey {
  readonly apiKey: Secret<string>;
  /** Number of the user's invitations that were revoked. */
  readonly revokedInvitations: number;
}

/** Replaces all API keys of a locked user with a new main key, and ends their access as {@link endAccess} does. */
export async function replaceApiKey(
  context: AccessContext,
  transaction: ServerTransaction,
  userId: UserId,
): Promise<ReplacedKey> {
  const apiKey = generateApiKey();
  await storeApiKeyHash(transaction.db, userId, hashCredential(apiKey.reveal()));
  return { apiKey, revokedInvitations: await endAccess(context, transaction, userId) };
}
