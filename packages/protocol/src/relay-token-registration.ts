import { z } from 'zod';
import type { JsonObject } from './json.js';
import type { TokenId } from './token-id.js';

/** A registration of the newer generation that a server forwards. */
export interface ForwardedTokenRegistration {
  readonly tokenId: TokenId;
  /** Base64. */
  readonly encryptedPushRegistration: string;
  readonly bouncerPublicKey: string;
}

/** The relay's answer to a registration of the newer generation: it has no fields of its own. */
export const relayRegisterTokenAnswer = z.object({});

/** Builds one registration of the newer generation, for a form or a batch. */
export function encodeTokenRegistration(registration: ForwardedTokenRegistration): Record<string, string> {
  return {
    token_id: registration.tokenId,
    encrypted_push_registration: registration.encryptedPushRegistration,
    bouncer_public_key: registration.bouncerPublicKey,
  };
}

/** Builds the request for many registrations of the newer generation. */
export function encodeTokenRegisterMany(
  realmUuid: string,
  registrations: readonly ForwardedTokenRegistration[],
): JsonObject {
  return { realm_uuid: realmUuid, registrations: registrations.map(encodeTokenRegistration) };
}

/** Builds the form that asks a relay to remove tokens, at most `maximumRemovedDevices`. */
export function encodeTokenRemoval(realmUuid: string, tokenIds: readonly TokenId[]): Record<string, string> {
  return { realm_uuid: realmUuid, device_ids: '[]', token_ids: JSON.stringify(tokenIds) };
}
