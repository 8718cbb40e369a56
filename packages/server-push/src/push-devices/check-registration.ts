import { createHash } from 'node:crypto';
import {
  decodePublicKey,
  formatPushAccountId,
  maximumEncryptedPushRegistrationCharacters,
  normalizeCiphertextBase64,
  type ProtocolError,
  type PushAccountIdText,
  refused,
  type registerPushDeviceParameters,
  type TokenKind,
} from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';
import { sealedBoxOverheadBytes } from '@waxwing/sodium/byte-sizes';
import type { z } from 'zod';

/** A validated registration. */
export interface CheckedRegistration {
  /** Decimal string. */
  readonly pushAccountId: PushAccountIdText;
  readonly tokenKind: TokenKind;
  readonly pushPublicKey: string;
  readonly bouncerPublicKey: string;
  readonly encryptedPushRegistration: string;
  /** SHA-256 over all fields. Equal only for identical registrations. */
  readonly hash: string;
}

const keyRule = 'it must be the padded standard base64 of a 32-byte X25519 public key';
const sealedRule = 'it must be the padded standard base64 of a sealed box';

/**
 * Validates the values of parameters whose types are already checked. @throws ProtocolError BAD_REQUEST that names the
 * invalid parameter.
 */
export function checkRegistration(
  parameters: z.infer<typeof registerPushDeviceParameters>,
  sodium: Sodium,
): CheckedRegistration {
  const { push_public_key: pushPublicKey, bouncer_public_key: bouncerPublicKey } = parameters;
  const pushKey = decodePublicKey(pushPublicKey);
  if (pushKey === undefined) throw refusal('push_public_key', keyRule);
  if (!sodium.isUsablePublicKey(pushKey)) {
    throw refusal('push_public_key', 'it is a low-order point, which cannot keep anything secret');
  }
  if (decodePublicKey(bouncerPublicKey) === undefined) throw refusal('bouncer_public_key', keyRule);
  const encryptedPushRegistration = checkSealed(parameters.encrypted_push_registration);
  const pushAccountId = formatPushAccountId(parameters.push_account_id);
  const tokenKind = parameters.token_kind;
  const hash = createHash('sha256')
    .update([tokenKind, pushPublicKey, bouncerPublicKey, encryptedPushRegistration].join('\n'))
    .digest('hex');
  return { pushAccountId, tokenKind, pushPublicKey, bouncerPublicKey, encryptedPushRegistration, hash };
}

function checkSealed(text: string): string {
  const sealed = normalizeCiphertextBase64(text);
  if (sealed === undefined) throw refusal('encrypted_push_registration', sealedRule);
  if (sealed.length > maximumEncryptedPushRegistrationCharacters) {
    const rule = `it has ${sealed.length} characters, but at most ${maximumEncryptedPushRegistrationCharacters} are allowed`;
    throw refusal('encrypted_push_registration', rule);
  }
  if (Buffer.byteLength(sealed, 'base64') <= sealedBoxOverheadBytes) {
    throw refusal('encrypted_push_registration', sealedRule);
  }
  return sealed;
}

function refusal(name: string, rule: string): ProtocolError {
  return refused(`Invalid ${name}: ${rule}`);
}
