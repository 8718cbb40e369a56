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
 * Deactivates this server at a relay. Idempotent: a server that is deactivated already, or that the relay does not know, has
 * left. Returns why it has not left, as the end of a sentence; `undefined` if it has.
 */
export async function leaveRelay(
  options: LeaveRelayOptions,
  row: StoredAccount,
): Promise<string | undefined> {
  try {
    const relay = openAccount(options, row);
    return whyNotLeft(await withAccountLink({ ...options, relay }, (link) => link.deactivate()));
  } catch (error) {
    if (error instanceof PushAccountError) return error.problem;
    throw error;
  }
}

function whyNotLeft(outcome: RelayOutcome<unknown>): string | undefined {
  if (outcome.kind === 'accepted') return undefined;
  if (outcome.kind === 'refused-for-good') return outcome.message;
  const hasLeft = outcome.httpStatus === 401 && /deactivated|is not registered/.test(outcome.reason);
  return hasLeft ? undefined : outcome.reason;
}
