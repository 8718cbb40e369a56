import { randomBytes } from 'node:crypto';
import { type ProtocolError, refused } from '@waxwing/protocol';
import { generateCredential, hashCredential, Secret } from '@waxwing/service/config';
import type { RelayDatabase } from '../../tables.js';
import type { ServerCredentials } from '../manage-servers.js';
import { requireActive, stateOf } from '../server-state.js';

const lifetimeMilliseconds = 10_000;

/**
 * Finds the server with this hostname. @throws ProtocolError `missing` for an unknown hostname; UNAUTHORIZED if the
 * server is not active.
 */
export async function findServerOfHost(
  { db }: Pick<RelayDatabase, 'db'>,
  hostname: string,
  missing: ProtocolError,
): Promise<string> {
  const found = await db
    .selectFrom('servers')
    .select(['id', 'deactivated_at', 'suspended_at'])
    .where('hostname', '=', hostname)
    .executeTakeFirst();
  if (found === undefined) throw missing;
  requireActive(stateOf(found));
  return found.id;
}

/**
 * Creates a secret that a host must publish within ten seconds, to prove that the server runs on that host. The secret
 * is valid once. Each request gets its own secret, so that no client can invalidate another client's secret.
 */
export async function createChallenge(
  database: RelayDatabase,
  hostname: string,
  now: number,
): Promise<Secret<string>> {
  const secret = new Secret(randomBytes(32).toString('hex').toUpperCase());
  const row = {
    secret_hash: hashCredential(secret.reveal()),
    hostname,
    expires_at: now + lifetimeMilliseconds,
  };
  await database.write(async ({ db }) => {
    await db
      .deleteFrom('server_challenges')
      .where('expires_at', '<=', now - lifetimeMilliseconds)
      .execute();
    await db.insertInto('server_challenges').values(row).execute();
  });
  return secret;
}

/** Proof that a server runs on a host. */
export interface HostProof {
  readonly serverId: string;
  readonly hostname: string;
  readonly secret: Secret<string>;
}

/**
 * Consumes the challenge that belongs to a secret, and gives the server a new key. The previous keys stop working
 * immediately, so that a host's new owner does not share the registration with the previous owner.
 * @throws ProtocolError BAD_REQUEST, without any change, for a secret that is unknown, used, expired, or issued for
 * another host.
 */
export async function transferServer(
  database: RelayDatabase,
  { serverId, hostname, secret }: HostProof,
  now: number,
): Promise<ServerCredentials> {
  const serverKey = generateCredential();
  await database.write(async ({ db }) => {
    const challenge = await db
      .deleteFrom('server_challenges')
      .where('secret_hash', '=', hashCredential(secret.reveal()))
      .returning(['hostname', 'expires_at'])
      .executeTakeFirst();
    if (challenge === undefined) throw refused('The verification secret is invalid, or was used before.');
    if (challenge.hostname !== hostname) {
      throw refused('The verification secret is for a different hostname.');
    }
    if (challenge.expires_at <= now) throw refused('The verification secret has expired.');
    const { numUpdatedRows } = await db
      .updateTable('servers')
      .set({
        key_hash: hashCredential(serverKey.reveal()),
        previous_key_hash: null,
        previous_key_until: null,
      })
      .where('id', '=', serverId)
      .where('hostname', '=', hostname)
      .where('deactivated_at', 'is', null)
      .where('suspended_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) throw unknownHost();
  });
  return { serverId, serverKey };
}

export function unknownHost(): ProtocolError {
  return refused('Registration not found for this hostname');
}
