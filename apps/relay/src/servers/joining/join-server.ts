import { ProtocolError, refused } from '@waxwing/protocol';
import { hashCredential, type Secret } from '@waxwing/service/config';
import { lockExclusive, lockingRows } from '@waxwing/storage';
import type { Selectable, Transaction } from 'kysely';
import type { RelayDatabase, RelayTables } from '../../tables.js';
import { matchingKey, rotateKeys } from '../server-keys.js';
import { requireActive, stateOf } from '../server-state.js';
import { useInvitation } from './invitations.js';
import type { JoiningConfiguration } from './joining-configuration.js';

/** A server's registration request. */
export interface ServerRegistration {
  /** UUID, lowercase. */
  readonly serverId: string;
  readonly key: Secret<string>;
  /** A new key to replace `key`, if the server rotates its key. */
  readonly newKey: Secret<string> | undefined;
  readonly hostname: string;
  readonly contactEmail: string;
  readonly invitation: Secret<string> | undefined;
  /** Whether the request reactivates a server that deactivated itself. */
  readonly returns: boolean;
  readonly mode: JoiningConfiguration['registration'];
}

/** Maximum number of new servers per day in `open` mode. In `invitation` mode, the invitations are the limit. */
export const maximumNewServersPerDay = 1000;
const dayMilliseconds = 86_400_000;
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** @throws ProtocolError BAD_REQUEST */
export function requireServerId(text: string): void {
  if (!uuidV4.test(text)) throw refused('Invalid UUID');
}

/**
 * Stores a new server, or updates a known server. Returns whether the server is new.
 * @throws ProtocolError for the reasons that `registerServer` lists, without any change.
 */
export function joinServer(
  database: RelayDatabase,
  registration: ServerRegistration,
  now: number,
): Promise<boolean> {
  return database.write(async ({ db }) => {
    // Locked: otherwise two servers could claim the same hostname.
    await lockExclusive(db, 'server registrations');
    const known = await db
      .selectFrom('servers')
      .selectAll()
      .where('id', '=', registration.serverId)
      .modifyEnd(lockingRows(db))
      .executeTakeFirst();
    if (known !== undefined) await updateServer(db, registration, { known, now });
    else await insertServer(db, registration, now);
    return known === undefined;
  });
}

async function updateServer(
  db: Transaction<RelayTables>,
  { serverId, key, newKey, hostname, contactEmail, returns }: ServerRegistration,
  { known, now }: { readonly known: Selectable<RelayTables['servers']>; readonly now: number },
): Promise<void> {
  const used = matchingKey(key, known, now);
  if (used === undefined) {
    throw new ProtocolError('INVALID_ZULIP_SERVER', {
      message: `Zulip server auth failure: key does not match role ${serverId}`,
      fields: { role: serverId },
    });
  }
  // Rejoining ends a deactivation. Only the operator can end a suspension.
  const deactivated_at = returns ? null : known.deactivated_at;
  requireActive(stateOf({ ...known, deactivated_at }));
  await requireFreeHostname(db, hostname, serverId);
  const { key_hash, previous_key_hash, previous_key_until } =
    newKey === undefined ? known : rotateKeys(known, { keyHash: hashCredential(newKey.reveal()), used, now });
  await db
    .updateTable('servers')
    .set({
      hostname,
      contact_email: contactEmail,
      key_hash,
      previous_key_hash,
      previous_key_until,
      deactivated_at,
    })
    .where('id', '=', serverId)
    .execute();
}

async function insertServer(
  db: Transaction<RelayTables>,
  { serverId, key, newKey = key, hostname, contactEmail, invitation, mode }: ServerRegistration,
  now: number,
): Promise<void> {
  await requireFreeHostname(db, hostname, serverId);
  const name = await admit(db, { mode, server: { serverId, hostname, code: invitation }, now });
  await db
    .insertInto('servers')
    .values({
      id: serverId,
      name: name || hostname,
      key_hash: hashCredential(newKey.reveal()),
      created_at: now,
      hostname,
      contact_email: contactEmail,
    })
    .execute();
}

interface Admission {
  readonly mode: JoiningConfiguration['registration'];
  readonly server: Parameters<typeof useInvitation>[1];
  readonly now: number;
}

/** Checks that a new server may join. Returns the name that the operator chose for the server, or an empty string. */
async function admit(db: Transaction<RelayTables>, { mode, server, now }: Admission): Promise<string> {
  if (mode === 'closed') {
    throw refused('This relay accepts no new servers automatically: ask its operator to add yours.');
  }
  if (mode === 'invitation' || server.code !== undefined) return useInvitation(db, server, now);
  const { count } = await db
    .selectFrom('servers')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('created_at', '>', now - dayMilliseconds)
    .executeTakeFirstOrThrow();
  if (Number(count) < maximumNewServersPerDay) return '';
  throw new ProtocolError('RATE_LIMIT_HIT', {
    httpStatus: 503,
    retryAfterSeconds: 3600,
    cause: 'new-servers-per-day',
  });
}

/** @throws ProtocolError HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR */
async function requireFreeHostname(
  db: Transaction<RelayTables>,
  hostname: string,
  serverId: string,
): Promise<void> {
  const other = await db
    .selectFrom('servers')
    .select('id')
    .where('hostname', '=', hostname)
    .where('id', '!=', serverId)
    .executeTakeFirst();
  if (other === undefined) return;
  const message = `A server with hostname ${hostname} already exists`;
  throw new ProtocolError('HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR', { message });
}
