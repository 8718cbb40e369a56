import { sha256 } from '@noble/hashes/sha2.js';
import { type TokenId, tokenIdFromDigest } from '@waxwing/protocol/phone';
import type { PushToken } from '../../push-token.js';

/** Computes the id that the server and the relay use for a token. */
export function tokenIdOf({ token }: PushToken): TokenId {
  return tokenIdFromDigest(sha256(new TextEncoder().encode(token)));
}
