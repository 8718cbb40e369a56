import {
  decodePublicKey,
  encodeBase64,
  encodePushRevocation,
  type PushRevocation,
  type TokenId,
} from '@waxwing/protocol/phone';
import type { Sodium } from '@waxwing/sodium';
import type { SealedRevocation } from '../accounts/forgotten-account.js';
import type { PushAccount } from '../accounts/push-account.js';
import type { SentRegistration } from '../accounts/sent-registration.js';
import { webOriginOf } from '../web-origin.js';
import { tokenIdOf } from './client-devices/token-id-of.js';

const nonceBytes = 16;

interface RevokedAccount {
  readonly account: PushAccount;
  /** The rows that remain on the phone. */
  readonly others: readonly PushAccount[];
  /** Unix milliseconds according to the device's clock. */
  readonly now: number;
}

/**
 * Seals revocations of an account's registrations for the relay, one for each generation. Omits a token that another
 * account of the same organization uses on this phone, because the relay has one registration for both accounts.
 */
export function sealRevocations(
  sodium: Sodium,
  { account, others, now }: RevokedAccount,
): readonly SealedRevocation[] {
  const { registration, device, pushAccountId } = account;
  const older = registration && sealOne(sodium, registration, { pushAccountId }, now);
  const sent = device?.sent;
  const tokenId = sent && tokenIdOf(sent.pushToken);
  const isShared = others.some((other) => isInSameRealm(account, other) && mayHaveToken(other, tokenId));
  const newer = sent && tokenId && !isShared ? sealOne(sodium, sent, { tokenId }, now) : undefined;
  return [older, newer].filter((revocation) => revocation !== undefined);
}

/**
 * Returns whether two accounts belong to the same organization, even if one of them has the organization's former URL.
 */
function isInSameRealm(one: PushAccount, other: PushAccount): boolean {
  if (webOriginOf(one.realmUrl) === webOriginOf(other.realmUrl)) return true;
  const realmUuid = one.device?.sent?.realmUuid;
  return realmUuid !== undefined && realmUuid === other.device?.sent?.realmUuid;
}

/**
 * Returns whether the account may use the token. A device that was adopted after its row was lost has the phone's token
 * even though the new row has no registration.
 */
function mayHaveToken({ device }: PushAccount, tokenId: TokenId | undefined): boolean {
  if (device?.sent === undefined) return device?.deviceId !== undefined;
  return tokenIdOf(device.sent.pushToken) === tokenId;
}

/**
 * Seals the revocation of one registration. Returns `undefined` if the server is too old to have reported its
 * organization.
 */
function sealOne(
  sodium: Sodium,
  { bouncerPublicKey, pushToken, realmUuid, timestamp: sentAt }: SentRegistration,
  named: Pick<PushRevocation, 'pushAccountId' | 'tokenId'>,
  now: number,
): SealedRevocation | undefined {
  const publicKey = decodePublicKey(bouncerPublicKey);
  if (realmUuid === undefined || publicKey === undefined) return undefined;
  // Not earlier than the registration, which may be dated by a clock that is ahead of the phone's own.
  const timestamp = Math.max(sentAt, Math.floor(now / 1000));
  const revocation = { token: pushToken.token, realmUuid, timestamp, ...named };
  const plaintext = encodePushRevocation(revocation, encodeBase64(sodium.randomBytes(nonceBytes)));
  return { bouncerPublicKey, encryptedPushRevocation: encodeBase64(sodium.seal(plaintext, publicKey)) };
}
