import { refused } from '@waxwing/protocol';
import { generateCredential, hashCredential, type Secret } from '@waxwing/service/config';
import type { Transaction } from 'kysely';
import type { RelayDatabase, RelayTables } from '../../tables.js';

/** An invitation for one server. If it has a hostname or an id, only that server can use it. */
export interface NewInvitation {
  readonly name: string;
  readonly hostname?: string | undefined;
  /** UUID, lowercase. */
  readonly serverId?: string | undefined;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** Creates an invitation. Returns its code; the database stores only a hash of the code. */
export async function createInvitation(
  database: RelayDatabase,
  { name, hostname, serverId, expiresAt }: NewInvitation,
  now: number,
): Promise<Secret<string>> {
  const code = generateCredential();
  const row = {
    code_hash: hashCredential(code.reveal()),
    name,
    hostname: hostname ?? null,
    server_id: serverId ?? null,
    created_at: now,
    expires_at: expiresAt,
  };
  await database.write(({ db }) => db.insertInto('server_invitations').values(row).execute());
  return code;
}

/** A new server's claim to an invitation. */
export interface InvitedServer {
  readonly serverId: string;
  readonly hostname: string;
  readonly code: Secret<string> | undefined;
}

/**
 * Consumes the invitation for a new server. Finds it by code, hostname or id, because a stock server cannot send a
 * code. Returns the name that the operator chose for the server.
 * @throws ProtocolError BAD_REQUEST if there is no valid invitation.
 */
export async function useInvitation(
  db: Transaction<RelayTables>,
  { serverId, hostname, code }: InvitedServer,
  now: number,
): Promise<string> {
  const found = await db
    .selectFrom('server_invitations')
    .select(['code_hash', 'name'])
    .where('expires_at', '>', now)
    .where((eb) => {
      const isForThis = eb.or([eb('hostname', '=', hostname), eb('server_id', '=', serverId)]);
      if (code === undefined) return isForThis;
      const isForAny = eb.and([eb('hostname', 'is', null), eb('server_id', 'is', null)]);
      return eb.and([eb('code_hash', '=', hashCredential(code.reveal())), eb.or([isForThis, isForAny])]);
    })
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  if (found === undefined) throw code === undefined ? notInvited() : invalidInvitation();
  const { numDeletedRows } = await db
    .deleteFrom('server_invitations')
    .where('code_hash', '=', found.code_hash)
    .executeTakeFirstOrThrow();
  if (numDeletedRows !== 1n) throw invalidInvitation();
  return found.name;
}

/** Deletes expired invitations. Returns the number of deleted invitations. */
export async function forgetExpiredInvitations(database: RelayDatabase, now: number): Promise<number> {
  const { numDeletedRows } = await database.write(({ db }) =>
    db.deleteFrom('server_invitations').where('expires_at', '<=', now).executeTakeFirstOrThrow(),
  );
  return Number(numDeletedRows);
}

function notInvited(): Error {
  return refused(
    'This relay admits new servers by invitation: ask its operator for one, and send its code as `invitation`.',
  );
}

function invalidInvitation(): Error {
  return refused(
    "The invitation is unknown, used, expired, or for another server: ask the relay's operator for a new one.",
  );
}
