import { formatPushAccountId, ProtocolError, parsePushRevocation, refused } from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';
import { type Addressee, addresseeOfToken, computeTokenId } from '../store/addressee.js';
import type { Revocation } from '../store/revocations.js';
import { decodeSealedRegistration } from './open-registration.js';
import type { RegistrationKeys } from './registration-keys.js';

/** A sealed revocation, as the relay receives it. */
interface SealedRevocation {
  readonly encrypted_push_revocation: string;
  readonly bouncer_public_key: string;
}

export interface OpeningOptions {
  readonly sodium: Sodium;
  readonly keyRing: Pick<RegistrationKeys, 'find' | 'takeOver'>;
}

/**
 * Opens a sealed revocation.
 * @throws ProtocolError INVALID_BOUNCER_PUBLIC_KEY; BAD_REQUEST, without a reason, if the revocation is invalid.
 */
export async function openRevocation(
  { sodium, keyRing }: OpeningOptions,
  { encrypted_push_revocation: text, bouncer_public_key: publicKey }: SealedRevocation,
): Promise<Revocation> {
  if (keyRing.find(publicKey) === undefined) await keyRing.takeOver();
  const keyPair = keyRing.find(publicKey);
  if (keyPair === undefined) throw new ProtocolError('INVALID_BOUNCER_PUBLIC_KEY');
  const sealed = decodeSealedRegistration(text);
  const plaintext = sealed && sodium.openSealed(sealed, keyPair);
  const opened = plaintext && parsePushRevocation(plaintext);
  if (opened === undefined) throw invalidRevocation();
  const { realmUuid, token, tokenId, pushAccountId, timestamp } = opened;
  if (tokenId !== undefined && tokenId !== computeTokenId(token)) throw invalidRevocation();
  const addressees: Addressee[] = [];
  if (pushAccountId !== undefined) addressees.push(formatPushAccountId(pushAccountId));
  if (tokenId !== undefined) addressees.push(addresseeOfToken(tokenId));
  return { realmUuid, addressees, token, revokedAt: timestamp * 1000 };
}

function invalidRevocation(): ProtocolError {
  return refused('Invalid encrypted_push_revocation');
}
