import { computeTokenId } from '#relay/registrations/store/addressee.js';
import { registrationVectors } from '../../../support/protocol-vectors.js';
import { realmUuid } from '../relay-under-test.js';
import { sealText, tokenForm } from './token-form.js';

const { keys, now } = registrationVectors();
export const bouncer_public_key = keys[0]?.public_key ?? '';

export interface RevocationFields {
  readonly revoked_token?: string;
  readonly [field: string]: unknown;
}

/** Returns the form for a revocation of the newer generation, sealed by another implementation. */
export function revocation({ revoked_token = 'a token', ...more }: RevocationFields = {}) {
  const token_id = computeTokenId(revoked_token);
  const fields = { revoked_token, realm_uuid: realmUuid, token_id, timestamp: now, ...more };
  return { encrypted_push_revocation: sealText(JSON.stringify(fields)), bouncer_public_key };
}

/** Returns the form for a revocation of the older generation. */
export const ofAccount = (account: string, fields: RevocationFields = {}) =>
  revocation({ token_id: undefined, push_account_id: account, ...fields });

/** Returns the form for a registration of the older generation. */
export function accountForm(account: string, fields: RevocationFields = {}): Record<string, string> {
  const { token_id: _tokenId, ...form } = tokenForm(fields);
  return { ...form, push_account_id: account };
}
