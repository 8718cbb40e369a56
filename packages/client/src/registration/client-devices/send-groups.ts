import type { ClientDeviceOnWire } from '@waxwing/protocol/phone';
import type { SentRegistration } from '../../accounts/sent-registration.js';
import { buildRegistration } from '../../build-registration.js';
import type { BouncerKeyChoice } from '../../key-list/bouncer-key-choice.js';
import { sealRegistration } from '../../seal-registration.js';
import { dateAfter, followedTime } from '../registration-time.js';
import { countRepeat, isKeyRefusal } from '../repeat-policy.js';
import { realmOf } from '../sync-run.js';
import { type DeviceSync, deviceOf, type OwnDevice, serverSeconds, storeDevice } from './device-sync.js';
import { newestKey } from './push-keys.js';
import { tokenIdOf } from './token-id-of.js';

/** Values to send: the newest push key, the token sealed to the relay's key, or both. */
export interface SentGroups {
  readonly withKey: boolean;
  readonly sealedTo: BouncerKeyChoice | undefined;
}

export async function sendGroups(sync: DeviceSync, own: OwnDevice, groups: SentGroups): Promise<void> {
  const { withKey, sealedTo } = groups;
  const { deviceId, state } = own;
  sync.requests += 1;
  const pushKey = withKey ? newestKey(sync.account) : undefined;
  const timestamp = await dateToken(sync);
  const token = sealedTo && sealToken(sync, sealedTo, timestamp);
  await sync.context.api.updateClientDevice({ deviceId, pushKey, token });
  sync.states.change(deviceId, {
    ...(pushKey === undefined ? {} : { push_key_id: pushKey.pushKeyId }),
    ...(token === undefined ? {} : acceptedToken(sync, own)),
  });
  if (sealedTo === undefined) return;
  sync.registrations += 1;
  const errorCode = state.push_registration_error_code ?? undefined;
  const before = deviceOf(sync).sent;
  const isRepeat = before !== undefined && tokenIdOf(before.pushToken) === sync.tokenId;
  const repeatedForSequence = isKeyRefusal(errorCode) ? sealedTo.sequence : before?.repeatedForSequence;
  const sent = {
    pushToken: sync.run.pushToken,
    bouncerPublicKey: sealedTo.publicKey,
    timestamp,
    ...realmOf(sync.run.queue),
    ...(isRepeat ? countRepeat(before, errorCode, sync.context.clock()) : {}),
  };
  await storeDevice(sync, { ...deviceOf(sync), sent: withRepeat(sent, repeatedForSequence) });
}

/**
 * Returns the registration date of the token in Unix seconds. After a sign-out, the date is at least one second later
 * than the sign-out, because the revocation ends all registrations dated up to that second.
 */
async function dateToken(sync: DeviceSync): Promise<number> {
  const time = followedTime(sync.context, sync.key);
  const { sent } = deviceOf(sync);
  const date = dateAfter(sent, time, sync.registrations > 0);
  if (sent !== undefined) return date;
  const signedOutAt = await sync.context.accounts.lastSignOut(sync.account);
  // Ignores a sign-out time in the future, because it was recorded before the phone's clock was corrected.
  if (signedOutAt === undefined || signedOutAt > time.device) return date;
  return Math.max(date, Math.floor(signedOutAt / 1000) + 1);
}

function sealToken(
  { context, run, tokenId }: DeviceSync,
  { publicKey }: BouncerKeyChoice,
  timestamp: number,
) {
  const registration = buildRegistration(run.pushToken, { timestamp, audience: run.queue.realmUuid });
  return {
    tokenKind: run.pushToken.tokenKind,
    tokenId,
    bouncerPublicKey: publicKey,
    encryptedPushRegistration: sealRegistration(context.sodium, registration, publicKey),
  };
}

/**
 * Returns the fields of the device's state that change when the server accepts a token. Empty if the token is already
 * active.
 */
function acceptedToken(sync: DeviceSync, { state }: OwnDevice): Partial<ClientDeviceOnWire> {
  const { tokenId } = sync;
  if (state.push_token_id === tokenId && state.push_registration_error_code === null) return {};
  return {
    pending_push_token_id: tokenId,
    push_token_last_updated_timestamp: serverSeconds(sync),
    push_registration_error_code: null,
  };
}

function withRepeat(sent: SentRegistration, repeatedForSequence: number | undefined): SentRegistration {
  return repeatedForSequence === undefined ? sent : { ...sent, repeatedForSequence };
}
