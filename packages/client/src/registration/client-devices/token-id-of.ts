import { sha256 } from '@noble/hashes/sha2.js';
import { type TokenId, tokenIdFromDigest } from '@waxwing/protocol/phone';
import type { PushToken } from '../../build-registration.js';

/** The id by which server and relay name a token. */
export function tokenIdOf({ token }: PushToken): TokenId {
  return tokenIdFromDigest(sha256(new TextEncoder().encode(token)));
}
