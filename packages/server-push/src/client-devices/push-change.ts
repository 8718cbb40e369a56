import {
  decodePublicKey,
  maximumEncryptedPushRegistrationCharacters,
  normalizeCiphertextBase64,
  type PushKeyId,
  type registerClientPushParameters,
} from '@waxwing/protocol';
import type { z } from 'zod';

type Parameters = z.output<typeof registerClientPushParameters>;

/** A key that a phone sent, not yet validated. */
export interface SentKey {
  readonly id: PushKeyId;
  readonly key: string;
}

/** A token that a phone sent. `tokenId` is not yet validated. */
export interface SentToken {
  readonly kind: string;
  readonly tokenId: string;
  /** Empty if the phone's string is not a key. The relay then reports an unknown key. */
  readonly bouncerPublicKey: string;
  /** Base64. Empty if the phone's string is not ciphertext or is too long: no relay could open it. */
  readonly encryptedPushRegistration: string;
}

/** A change that a phone sends for its device: a key, a token, or both. */
export type PushChange =
  | { readonly kind: 'key'; readonly key: SentKey }
  | { readonly kind: 'token'; readonly token: SentToken }
  | { readonly kind: 'both'; readonly key: SentKey; readonly token: SentToken };

/**
 * Reads the key parameters and the token parameters. If only one group is complete, ignores the other. Returns
 * `undefined` if neither group is complete.
 */
export function readPushChange(parameters: Parameters): PushChange | undefined {
  const key = readKey(parameters);
  const token = readToken(parameters);
  if (key !== undefined && token !== undefined) return { kind: 'both', key, token };
  if (key !== undefined) return { kind: 'key', key };
  return token && { kind: 'token', token };
}

function readKey({ push_key_id: id, push_key: key }: Parameters): SentKey | undefined {
  return id === undefined || key === undefined ? undefined : { id, key };
}

function readToken(parameters: Parameters): SentToken | undefined {
  const { token_kind: kind, token_id: tokenId, bouncer_public_key: bouncerPublicKey } = parameters;
  const { encrypted_push_registration: sealed } = parameters;
  if (kind === undefined || tokenId === undefined) return undefined;
  if (bouncerPublicKey === undefined || sealed === undefined) return undefined;
  return {
    kind,
    tokenId,
    bouncerPublicKey: decodePublicKey(bouncerPublicKey) === undefined ? '' : bouncerPublicKey,
    encryptedPushRegistration: readSealed(sealed),
  };
}

function readSealed(text: string): string {
  const sealed = normalizeCiphertextBase64(text) ?? '';
  return sealed.length > maximumEncryptedPushRegistrationCharacters ? '' : sealed;
}
