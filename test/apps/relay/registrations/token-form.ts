import { computeTokenId } from '#relay/registrations/store/addressee.js';
import { seal } from '../../../support/noble-oracle.js';
import { registrationVectors } from '../../../support/protocol-vectors.js';
import { realmUuid } from '../relay-under-test.js';

const { keys, now } = registrationVectors();

/** Fields of the sealed JSON that override a stock phone's fields. */
export interface SealedFields {
  readonly token?: string;
  readonly [field: string]: unknown;
}

/** Seals any string with another implementation. */
export function sealText(plaintext: string, publicKey = keys[0]?.public_key ?? ''): string {
  const ephemeral = crypto.getRandomValues(new Uint8Array(32));
  const box = seal(new TextEncoder().encode(plaintext), Buffer.from(publicKey, 'base64'), ephemeral);
  return Buffer.from(box).toString('base64');
}

/** Returns a stock server's form for a registration that a stock phone sealed. */
export function tokenForm(
  { token = 'a token', ...more }: SealedFields = {},
  changes: Record<string, string> = {},
): Record<string, string> {
  return {
    realm_uuid: realmUuid,
    token_id: computeTokenId(token),
    encrypted_push_registration: sealText(
      JSON.stringify({ token_kind: 'fcm', token, timestamp: now, ...more }),
    ),
    bouncer_public_key: keys[0]?.public_key ?? '',
    ...changes,
  };
}
