import { randomUUID } from 'node:crypto';
import type { DatabaseWithJobs } from '@waxwing/jobs';
import { generateCredential, type Secret } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import type { AdminNames } from '../admin-names.js';
import type { RealmPushStatus } from '../relay-link/realm-push-status.js';
import type { RelayOutcome } from '../relay-link/relay-answer.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import type { ServerRegistration } from '../relay-link/server-registration.js';
import type { PushRealm, RelayNetwork } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import {
  joinRefusal,
  keyListTrouble,
  lostKeyList,
  PushAccountError,
  pinRefusal,
  realmRefusal,
} from './account-errors.js';
import { type ConfiguredRelay, withAccountLink } from './account-link.js';
import {
  accountAt,
  adoptNewKey,
  enableAccount,
  type StoredAccount,
  storeAccount,
  storeNewKey,
} from './account-store.js';
import { describeRealm } from './describe-realm.js';
import { verifyPinned } from './pin-signing-key.js';
import { openServerKey, sealServerKey } from './seal-server-key.js';

export interface RelayAccountOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly realm: PushRealm;
  readonly network: RelayNetwork;
  /** The 32-byte key that encrypts server keys in the database. */
  readonly secretKey: Secret<Uint8Array>;
  readonly sodium: Sodium;
  readonly clock: Clock;
  readonly names: AdminNames;
}

/** An admin's request to join a relay. */
export interface JoinRequest {
  /** Base URL of the relay. */
  readonly url: string;
  readonly hostname: string;
  readonly contactEmail: string;
  readonly invitation: Secret<string> | undefined;
}

export interface EnabledRelay {
  readonly relay: ConfiguredRelay;
  /** Whether this server is new to the relay. */
  readonly isNew: boolean;
  /** The relay's signing key in base64, now pinned; `undefined` if the relay publishes no key list. */
  readonly signingPublicKey: string | undefined;
  /** False if the relay has switched push off for the organization. */
  readonly canPush: boolean;
}

/**
 * Registers this server with a relay, reports its organization, pins the relay's signing key, and puts the account into
 * use in every process. The id and the key are stored before they are sent, so that a retry after a lost response sends
 * the same values. The current relay stays in use until everything has succeeded.
 * @throws PushAccountError whose message tells the admin what to do.
 */
export async function enableRelay(options: RelayAccountOptions, request: JoinRequest): Promise<EnabledRelay> {
  const { database, realm, clock } = options;
  const stored = await storeAccount(database, await prepareAccount(options, request));
  // If this server has joined before, the relay may have deactivated it since, so ask for reactivation.
  const asked = { ...request, reactivate: stored.state !== 'joining' };
  const row = await finishRotation(options, stored, asked);
  const relay = openAccount(options, row);
  return withAccountLink({ relay, realm, clock }, async (link) => {
    const joined = await link.join(asked);
    if (joined.kind !== 'accepted') throw joinRefusal(joined, request, options.names);
    const pushStatus = await reportRealm(options, link, relay);
    const signingPublicKey = await pin(options, link, row);
    const { hostname, contactEmail: contact_email } = request;
    const signing_public_key = signingPublicKey ?? null;
    const confirmed = { url: row.url, hostname, contact_email, signing_public_key };
    await enableAccount(database, confirmed, pushStatus, clock());
    return { relay, isNew: joined.answer.created, signingPublicKey, canPush: pushStatus?.canPush !== false };
  });
}

/**
 * Replaces this server's key at the relay. The new key is stored before it is sent. If an earlier rotation did not
 * finish, it is repeated with the same new key and authenticated with either key, because the relay may already have
 * accepted the new key.
 * @throws PushAccountError whose message tells the admin what to do. The old key then stays in use.
 */
export async function rotateServerKey(options: RelayAccountOptions, row: StoredAccount): Promise<void> {
  const { database, realm, clock, secretKey } = options;
  const owner = { url: row.url, serverId: row.server_id };
  const sealed = await storeNewKey(database, row.url, sealServerKey(secretKey, owner, generateCredential()));
  const newKey = openServerKey(secretKey, owner, sealed);
  if (newKey === undefined) throw unreadable(row.url, options.names);
  const relay = openAccount(options, row);
  const registration = { hostname: row.hostname, contactEmail: row.contact_email };
  await withAccountLink({ relay, realm, clock }, async (link) => {
    let rotated = await link.join({ ...registration, newKey });
    if (isRefused(rotated)) {
      // An earlier attempt may have rotated the key, and the relay may have forgotten the old key since. Try the new
      // key.
      link.useServerKey(newKey);
      const repeated = await link.join(registration);
      if (repeated.kind === 'accepted') rotated = repeated;
    }
    if (rotated.kind !== 'accepted')
      throw joinRefusal(rotated, { url: row.url, ...registration }, options.names);
    await adoptNewKey(database, { url: row.url, sealed, now: clock() });
  });
}

/**
 * If the relay has accepted the new key of an unfinished rotation, adopts it, because the relay may have forgotten the
 * old key since. Returns the account with the key to use.
 */
async function finishRotation(
  options: RelayAccountOptions,
  row: StoredAccount,
  request: ServerRegistration,
): Promise<StoredAccount> {
  const { database, realm, clock } = options;
  const { url, sealed_new_key: sealed } = row;
  if (sealed === null) return row;
  const rotated = { ...row, sealed_key: sealed, sealed_new_key: null };
  const relay = openAccount(options, rotated);
  const joined = await withAccountLink({ relay, realm, clock }, (link) => link.join(request));
  if (joined.kind !== 'accepted') return row;
  await adoptNewKey(database, { url, sealed, now: clock() });
  return rotated;
}

/** Decrypts the key of a stored account. @throws PushAccountError if the key was encrypted with a different secret key. */
export function openAccount(
  { secretKey, network, names }: Pick<RelayAccountOptions, 'secretKey' | 'network' | 'names'>,
  row: StoredAccount,
): ConfiguredRelay {
  const { url, server_id: serverId } = row;
  const serverKey = openServerKey(secretKey, { url, serverId }, row.sealed_key);
  if (serverKey === undefined) throw unreadable(url, names);
  return { kind: 'configured', url, serverId, serverKey, network };
}

/** Whether the relay has refused the request. */
function isRefused(outcome: RelayOutcome<unknown>): boolean {
  if (outcome.kind !== 'retry') return outcome.kind === 'refused-for-good';
  return outcome.cause === 'admin-must-act';
}

function unreadable(url: string, { push, prefix }: AdminNames): PushAccountError {
  return new PushAccountError(
    `The stored key for ${url} cannot be decrypted: the server's key file is not the one that it was encrypted with`,
    `restore ${prefix}KEY_FILE from a backup, or run "${push} disable --forget", then "${push} enable" again`,
  );
}

async function prepareAccount(
  { database, secretKey, clock }: RelayAccountOptions,
  { url, hostname, contactEmail }: JoinRequest,
): Promise<StoredAccount> {
  const changed_at = clock();
  const known = await accountAt(database.db, url);
  if (known !== undefined) return { ...known, changed_at };
  const serverId = randomUUID();
  const sealed_key = sealServerKey(secretKey, { url, serverId }, generateCredential());
  const fresh = { state: 'joining', sealed_new_key: null, signing_public_key: null } as const;
  const named = { hostname, contact_email: contactEmail };
  return { url, server_id: serverId, sealed_key, changed_at, ...fresh, ...named };
}

/**
 * Reports the organization to the relay. Returns the organization's push status, or `undefined` if the response
 * contains none.
 */
async function reportRealm(
  { realm, secretKey }: RelayAccountOptions,
  link: RelayLink,
  relay: ConfiguredRelay,
): Promise<RealmPushStatus | undefined> {
  const reported = await link.reportRealm(describeRealm(realm, secretKey));
  if (reported.kind !== 'accepted') throw realmRefusal(reported, { url: relay.url, realmUuid: realm.uuid });
  return reported.answer.realms[realm.uuid];
}

async function pin(
  { sodium, clock, names }: RelayAccountOptions,
  link: RelayLink,
  row: StoredAccount,
): Promise<string | undefined> {
  const fetched = await link.fetchKeyList();
  const pinned = row.signing_public_key ?? undefined;
  if (fetched.kind === 'retry') throw keyListTrouble(fetched);
  if (fetched.kind === 'refused-for-good') {
    // Stock relays publish no key list.
    if (pinned === undefined) return undefined;
    throw lostKeyList(row.url, names);
  }
  const verified = verifyPinned(fetched.answer, pinned, { sodium, now: clock() });
  if (verified.kind === 'refused') throw pinRefusal(verified.reason, row.url, names);
  return verified.signingPublicKey;
}
