import type { RelayOutcome } from '../relay-link/relay-answer.js';
import { PushAccountError } from './account-errors.js';
import { withAccountLink } from './account-link.js';
import type { StoredAccount } from './account-store.js';
import { openAccount, type RelayAccountOptions } from './enable-relay.js';

export type LeaveRelayOptions = Pick<
  RelayAccountOptions,
  'realm' | 'network' | 'secretKey' | 'clock' | 'names'
>;

/**
 * Deactivates this server at a relay. Idempotent: also succeeds if the server is already deactivated, or if the relay
 * does not know it. Returns `undefined` on success, otherwise the reason for the failure, as the end of a sentence.
 */
export async function leaveRelay(
  options: LeaveRelayOptions,
  row: StoredAccount,
): Promise<string | undefined> {
  try {
    const relay = openAccount(options, row);
    return whyNotLeft(row, await withAccountLink({ ...options, relay }, (link) => link.deactivate()));
  } catch (error) {
    if (error instanceof PushAccountError) return error.problem;
    throw error;
  }
}

function whyNotLeft(
  { state }: Pick<StoredAccount, 'state'>,
  outcome: RelayOutcome<unknown>,
): string | undefined {
  if (outcome.kind === 'accepted') return undefined;
  if (outcome.kind === 'refused-for-good') {
    // There is no relay at this address, so this server never joined it.
    return state === 'joining' && outcome.code === 'NOT_FOUND' ? undefined : outcome.message;
  }
  const hasLeft = outcome.httpStatus === 401 && /deactivated|is not registered/.test(outcome.reason);
  return hasLeft ? undefined : outcome.reason;
}
