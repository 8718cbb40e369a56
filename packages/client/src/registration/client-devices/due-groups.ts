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

/**
 * Age at which the phone registers its token again. All active devices renew in this way, so a relay can drop a device
 * that stops.
 */
const renewalAgeSeconds = 30 * 86_400;

export interface DeviceFacts {
  /** The server's view of the device. */
  readonly state: ClientDeviceOnWire;
  readonly newestKeyId: PushKeyId | undefined;
  /** The id of the phone's token. */
  readonly tokenId: TokenId;
  readonly sent: SentRegistration | undefined;
  /** `undefined` if there is no usable key. */
  readonly key: BouncerKeyChoice | undefined;
  /** Unix seconds according to the server's clock. */
  readonly now: number;
  /** Unix milliseconds according to the device's clock. */
  readonly deviceNow: number;
  /** Whether to repeat a failed registration without backoff. */
  readonly retryNow: boolean;
  /** How many tokens this sync has registered. */
  readonly registrations: number;
  readonly isServerTime: boolean;
}

/**
 * Groups of parameters to send. Both are false if the server's state matches the phone's or if a retry would not help.
 */
export interface DueGroups {
  readonly key: boolean;
  readonly token: boolean;
}

export function dueGroups(facts: DeviceFacts): DueGroups {
  const { state, newestKeyId } = facts;
  // On a new device, the server refuses a key without a token. It also refuses a new token while another one is in
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
    // No backoff within a sync, because the number of registrations per sync is bounded.
    const retryNow = facts.retryNow || registrations > 0;
    return isWorthRepeating({ sent, errorCode, key, retryNow, now: facts.deviceNow });
  }
  // If the push key stayed the same, the server would treat the token as unchanged and not forward it.
  if (isSealedToFormerKey(sent, key) && state.push_key_id !== facts.newestKeyId) return true;
  const registeredAt = state.push_token_last_updated_timestamp;
  return registeredAt === null || now - registeredAt >= renewalAgeSeconds;
}

/** Returns whether the server is waiting for the relay's decision on a token. */
export function isInProgress(state: ClientDeviceOnWire): boolean {
  return state.pending_push_token_id !== null && state.push_registration_error_code === null;
}

/**
 * Returns whether a registration has been in progress for so long that the relay would no longer accept it. By then,
 * the server has silently given up, but still refuses any other token for the device.
 */
export function isStuck(state: ClientDeviceOnWire, now: number): boolean {
  const registeredAt = state.push_token_last_updated_timestamp;
  return isInProgress(state) && registeredAt !== null && now - registeredAt > livenessTimeoutSeconds;
}

/** Determines from the server's view of the device whether notifications reach this phone. */
export function verdictOn(state: ClientDeviceOnWire, tokenId: TokenId): 'active' | 'pending' | 'failed' {
  const hasToken = state.push_token_id === tokenId;
  if (isInProgress(state) && !(hasToken && state.pending_push_token_id === tokenId)) return 'pending';
  return hasToken ? 'active' : 'failed';
}
