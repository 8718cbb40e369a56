import type { DatabaseWithJobs } from '@waxwing/jobs';
import {
  type ClientDeviceId,
  type ErrorCode,
  type ForwardedTokenRegistration,
  type PushAccountIdText,
  parseJson,
  type TokenId,
} from '@waxwing/protocol';
import { enqueueRemoval } from '../push-devices/remove-relay-devices.js';
import {
  accountsOfUsers,
  dropFormerDevices,
  lockFormerDevices,
  type SameTokenAccounts,
} from '../push-devices/same-token-devices.js';
import {
  enqueueForwardingJob,
  type ForwardingOptions,
  handleForwardingJobs,
} from '../registrations/forwarding-jobs.js';
import type { GroupedRegistrations } from '../relay-link/grouped-registrations.js';
import type { RelayOutcome, RelayRefusal } from '../relay-link/relay-answer.js';
import type { PublishEvents } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { ClientDeviceRow } from './client-device-state.js';
import { activateToken, failToken, pendingTokens, type TokenKey } from './pending-tokens.js';
import { enqueueTokenRemoval } from './remove-tokens.js';

/** Kind of the job that forwards a token's registration to the relay. */
export const forwardTokenJob = 'client-devices/forward-token';
/** Kind of the same job for a user who already has many pending registrations. */
export const forwardFurtherTokenJob = 'client-devices/forward-further-token';

const jobKinds = { common: forwardTokenJob, further: forwardFurtherTokenJob };

/** A registration to be forwarded. */
interface AcceptedToken {
  readonly key: TokenKey;
  /** Registrations of the same user that were already pending. */
  readonly waitingBefore: number;
}

/** Enqueues the forwarding job in the transaction that accepts the registration. */
export async function enqueueTokenForwarding(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  { key, waitingBefore }: AcceptedToken,
  now: number,
): Promise<void> {
  const payload = JSON.stringify({ client_device_id: key.id, generation: key.generation });
  await enqueueForwardingJob(database, transaction, { jobKinds, payload, waitingBefore, now });
}

export interface ForwardTokenOptions extends ForwardingOptions {
  /** Returns `undefined` if the organization has no relay. */
  registrations(): GroupedRegistrations<ForwardedTokenRegistration, SameTokenAccounts> | undefined;
  readonly publish: PublishEvents;
}

/** A pending token, and its user's accounts of the older generation, whose tokens the relay compares. */
interface FoundToken {
  readonly row: ClientDeviceRow;
  readonly accountsOfUser: readonly PushAccountIdText[];
}

/**
 * Registers the handlers of both forwarding jobs. The token comes into force or is marked as refused, and the same
 * transaction publishes the events.
 */
export function handleTokenForwarding(options: ForwardTokenOptions): void {
  const { publish } = options;
  handleForwardingJobs(options, {
    jobKinds,
    readKey,
    pending: (keys: readonly TokenKey[]) => findTokens(options, keys),
    register: async (found, signal) => {
      const registrations = options.registrations();
      return registrations && (hopeless(found.row) ?? registrations.register(registrationOf(found), signal));
    },
    activate: (transaction, key, { row }, { sameTokenAccounts }) =>
      activate(options, transaction, key, { row, sameTokenAccounts }),
    fail: async (transaction, key, errorCode) =>
      publish(transaction, await failToken(transaction, key, errorCode)),
  });
}

async function findTokens(
  { database: { db } }: ForwardTokenOptions,
  keys: readonly TokenKey[],
): Promise<(FoundToken | undefined)[]> {
  const rows = await pendingTokens(db, keys);
  const accounts = await accountsOfUsers(db, rows);
  return rows.map((row) => row && { row, accountsOfUser: accounts.get(row.user_id) ?? [] });
}

/** Activates the token and replaces the phone's registration of the older generation. */
async function activate(
  { clock, database, publish }: ForwardTokenOptions,
  transaction: PushTransaction,
  key: TokenKey,
  { row, sameTokenAccounts }: Pick<FoundToken, 'row'> & SameTokenAccounts,
): Promise<void> {
  const now = clock();
  const former = await lockFormerDevices(transaction, row.user_id, sameTokenAccounts);
  const { events, freed, isInForce } = await activateToken(transaction, key, tokenOf(row), now);
  await publish(transaction, events);
  await enqueueTokenRemoval(database, transaction, { freed, now });
  if (!isInForce) return;
  const dropped = await dropFormerDevices(transaction, former, row.push_token_updated_at ?? now, now);
  await enqueueRemoval(database, transaction, { freed: dropped, now });
}

/** The refusal of a registration that no relay could accept; see `SentToken`. */
function hopeless(row: ClientDeviceRow): RelayOutcome<never> | undefined {
  if (row.pending_bouncer_public_key === '') return refusal('INVALID_BOUNCER_PUBLIC_KEY');
  return row.pending_encrypted_registration === '' ? refusal('BAD_REQUEST') : undefined;
}

function refusal(code: ErrorCode): RelayRefusal {
  return { kind: 'refused-for-good', code, message: 'no relay could take the registration' };
}

function registrationOf({ row, accountsOfUser }: FoundToken): ForwardedTokenRegistration {
  return {
    accountsOfUser,
    tokenId: tokenOf(row),
    bouncerPublicKey: row.pending_bouncer_public_key ?? '',
    encryptedPushRegistration: row.pending_encrypted_registration ?? '',
  };
}

function tokenOf(row: ClientDeviceRow): TokenId {
  return row.pending_push_token_id as TokenId;
}

function readKey(payload: string): TokenKey {
  const { client_device_id: id, generation } = parseJson(payload) as Record<string, number>;
  return { id: Number(id) as ClientDeviceId, generation: Number(generation) };
}
