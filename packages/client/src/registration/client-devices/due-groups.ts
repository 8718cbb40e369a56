import {
  type ClientDeviceOnWire,
  livenessTimeoutSeconds,
  type PushKeyId,
  type TokenId,
} from '@waxwing/protocol/phone';
import type { SentRegistration } from '../../accounts/sent-registration.js';
import type { BouncerKeyChoice } from '../../key-list/bouncer-key-choice.js';
import {
  canRepeatAtOnce,
  isSealedToFormerKey,
  isWorthRepeating,
  mostRegistrationsOfOneSync,
} from '../repeat-policy.js';

/** Age at which a token is registered again, so that relays can drop devices that do not register any more. */
const renewalAgeSeconds = 30 * 86_400;

export interface DeviceFacts {
  /** The device as the server knows it. */
  readonly state: ClientDeviceOnWire;
  readonly newestKeyId: PushKeyId | undefined;
  /** The id of the phone's token. */
  readonly tokenId: TokenId;
  readonly sent: SentRegistration | undefined;
  /** `undefined` if there is no usable key. */
  readonly key: BouncerKeyChoice | undefined;
  /** Unix seconds by the server's clock. */
  readonly now: number;
  /** Unix milliseconds by the device's clock. */
  readonly deviceNow: number;
  /** Whether to repeat a failed registration without backoff. */
  readonly retryNow: boolean;
  /** How many tokens this sync has registered. */
  readonly registrations: number;
  readonly isServerTime: boolean;
}

/**
 * The groups of parameters to send. Both are false if the server's state matches the phone's, or if a retry would not help.
 */
export interface DueGroups {
  readonly key: boolean;
  readonly token: boolean;
}

export function dueGroups(facts: DeviceFacts): DueGroups {
  const { state, newestKeyId } = facts;
  // On a new device, the server refuses a key without a token. It also refuses a new token while another token is in
  // progress.
  const isNew = state.push_key_id === null;
  const token =
    !isInProgress(state) && facts.registrations < mostRegistrationsOfOneSync && (isNew || isTokenDue(facts));
  return { key: state.push_key_id !== newestKeyId && (token || !isNew), token };
}

function isTokenDue(facts: DeviceFacts): boolean {
  const { state, tokenId, sent, key, now, registrations, isServerTime } = facts;
  const errorCode = state.push_registration_error_code ?? undefined;
  if (registrations > 0 && (errorCode === undefined || !canRepeatAtOnce(errorCode, isServerTime)))
    return false;
  if ((state.pending_push_token_id ?? state.push_token_id) !== tokenId) return true;
  if (errorCode !== undefined) {
    // No backoff within a sync: the number of its registrations is bounded.
    const retryNow = facts.retryNow || registrations > 0;
    return isWorthRepeating({ sent, errorCode, key, retryNow, now: facts.deviceNow });
  }
  // With an unchanged push key, the server would treat the token as unchanged and not forward it.
  if (isSealedToFormerKey(sent, key) && state.push_key_id !== facts.newestKeyId) return true;
  const registeredAt = state.push_token_last_updated_timestamp;
  return registeredAt === null || now - registeredAt >= renewalAgeSeconds;
}

/** Returns whether the server waits for the relay's decision on a token. */
export function isInProgress(state: ClientDeviceOnWire): boolean {
  return state.pending_push_token_id !== null && state.push_registration_error_code === null;
}

/**
 * Returns whether a registration has been in progress for longer than relays accept it. The server has then silently given
 * up, and refuses any other token for the device.
 */
export function isStuck(state: ClientDeviceOnWire, now: number): boolean {
  const registeredAt = state.push_token_last_updated_timestamp;
  return isInProgress(state) && registeredAt !== null && now - registeredAt > livenessTimeoutSeconds;
}

/** Derives from the device's state at the server whether notifications reach this phone. */
export function verdictOn(state: ClientDeviceOnWire, tokenId: TokenId): 'active' | 'pending' | 'failed' {
  const hasToken = state.push_token_id === tokenId;
  if (isInProgress(state) && !(hasToken && state.pending_push_token_id === tokenId)) return 'pending';
  return hasToken ? 'active' : 'failed';
}
