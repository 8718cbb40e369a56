import type { ErrorCode, ForwardedTokenRegistration, TokenId } from '@waxwing/protocol';
import type { ClientDeviceRow } from '../client-devices/client-device-state.js';
import { readTokenKey, tokenJobKinds } from '../client-devices/enqueue-token-forwarding.js';
import { removeFormerRelayDevices, replaceRelayDevices } from '../client-devices/former-relay-devices.js';
import { activateToken, failToken, pendingTokens, type TokenKey } from '../client-devices/pending-tokens.js';
import { enqueueTokenRemoval } from '../client-devices/remove-tokens.js';
import { type ForwardingOptions, handleForwardingJobs } from '../registrations/forwarding-jobs.js';
import { noOthers, type OtherRegistrations, type SameToken } from '../registrations/same-token.js';
import type { GroupedRegistrations } from '../relay-link/grouped-registrations.js';
import type { RelayOutcome, RelayRefusal } from '../relay-link/relay-answer.js';
import type { PublishEvents } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';
import { otherRegistrations } from './other-registrations.js';
import { dropReplaced, hasLaterAccepted, lockPushDevices } from './same-phone.js';

export interface ForwardTokenOptions extends ForwardingOptions {
  /** Returns `undefined` if the organization has no relay. */
  registrations(): GroupedRegistrations<ForwardedTokenRegistration, SameToken> | undefined;
  readonly publish: PublishEvents;
}

/** A pending token, and the user's other registrations. */
interface FoundToken extends OtherRegistrations {
  readonly row: ClientDeviceRow;
}

/**
 * Registers the handlers for both forwarding jobs. A forwarded token becomes active or is marked as refused, and the
 * same transaction publishes the events about it.
 */
export function handleTokenForwarding(options: ForwardTokenOptions): void {
  const { publish } = options;
  handleForwardingJobs(options, {
    jobKinds: tokenJobKinds,
    readKey: readTokenKey,
    pending: (keys: readonly TokenKey[]) => findTokens(options, keys),
    comparesTokens: () => options.registrations()?.comparesTokens ?? false,
    register: async (found, signal) => {
      const registrations = options.registrations();
      return registrations && (hopeless(found.row) ?? registrations.register(registrationOf(found), signal));
    },
    activate: (transaction, key, { row }, sameToken) => activate(options, transaction, key, row, sameToken),
    fail: async (transaction, key, errorCode) =>
      publish(transaction, await failToken(transaction, key, errorCode)),
  });
}

async function findTokens(
  { database: { db } }: ForwardTokenOptions,
  keys: readonly TokenKey[],
): Promise<(FoundToken | undefined)[]> {
  const rows = await pendingTokens(db, keys);
  const others = await otherRegistrations(
    db,
    rows.map((row) => row && { userId: row.user_id, own: tokenOf(row) }),
  );
  return rows.map((row, index) => row && { row, ...(others[index] ?? noOthers) });
}

/**
 * Activates the token, unless the phone has returned to the older generation, and drops the phone's older registrations.
 */
async function activate(
  { clock, database, publish }: ForwardTokenOptions,
  transaction: PushTransaction,
  key: TokenKey,
  row: ClientDeviceRow,
  { sameTokenAccounts, sameTokenIds }: SameToken,
): Promise<void> {
  const now = clock();
  const datedAt = row.push_token_updated_at ?? now;
  const older = await lockPushDevices(transaction, row.user_id, sameTokenAccounts);
  const stored = {
    userId: row.user_id,
    tokenIds: [tokenOf(row), ...sameTokenIds] as const,
    isReplaced: hasLaterAccepted(older, datedAt, now),
  };
  const { events, freed, isInForce, losers } = await activateToken(transaction, key, stored, now);
  await publish(transaction, events);
  await enqueueTokenRemoval(database, transaction, { freed, now });
  await removeFormerRelayDevices(database, transaction, losers, now);
  if (!isInForce) return;
  const dropped = await dropReplaced(database, transaction, older, { date: datedAt, now });
  await replaceRelayDevices(database, transaction, key.id, { freed: dropped, now });
}

/**
 * Returns the refusal for a registration that no relay could accept (see `SentToken`), or `undefined` if a relay may
 * accept it.
 */
function hopeless(row: ClientDeviceRow): RelayOutcome<never> | undefined {
  if (row.pending_bouncer_public_key === '') return refusal('INVALID_BOUNCER_PUBLIC_KEY');
  return row.pending_encrypted_registration === '' ? refusal('BAD_REQUEST') : undefined;
}

function refusal(code: ErrorCode): RelayRefusal {
  return { kind: 'refused-for-good', code, message: 'no relay could accept the registration' };
}

function registrationOf({ row, ...others }: FoundToken): ForwardedTokenRegistration {
  return {
    ...others,
    tokenId: tokenOf(row),
    bouncerPublicKey: row.pending_bouncer_public_key ?? '',
    encryptedPushRegistration: row.pending_encrypted_registration ?? '',
  };
}

function tokenOf(row: ClientDeviceRow): TokenId {
  return row.pending_push_token_id as TokenId;
}
