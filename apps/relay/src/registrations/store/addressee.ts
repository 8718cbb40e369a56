import { hash } from 'node:crypto';
import {
  type PushAccountId,
  type PushAccountIdText,
  type TokenId,
  tokenIdFromDigest,
} from '@waxwing/protocol';

/**
 * Recipient of a device's notifications within a realm. In the older generation: a push account, in decimal. In the
 * newer generation: `token:` and the token's id. Without encryption: `user:` and the user's id. Stored in the columns
 * named `push_account_id`.
 */
export type Addressee = PushAccountIdText | TokenAddressee | UserAddressee;

/** `user:` and the user's UUID, or the id that the server gave the user. */
export type UserAddressee = `user:${string}`;

/** `token:` and a token's id. */
export type TokenAddressee = `token:${string}`;

const tokenPrefix = 'token:';

export function addresseeOfToken(tokenId: TokenId): TokenAddressee {
  return `${tokenPrefix}${tokenId}`;
}

/** Returns the token id of a newer-generation addressee; `undefined` for other addressees. */
export function tokenIdOf(addressee: Addressee): TokenId | undefined {
  return addressee.startsWith(tokenPrefix) ? (addressee.slice(tokenPrefix.length) as TokenId) : undefined;
}

/** Returns the push account of an older-generation addressee; `undefined` for other addressees. */
export function pushAccountOf(addressee: Addressee): PushAccountId | undefined {
  return /^-?\d+$/.test(addressee) ? (BigInt(addressee) as PushAccountId) : undefined;
}

/** Computes the id that a token has in the newer generation. */
export function computeTokenId(token: string): TokenId {
  return tokenIdFromDigest(hash('sha256', token, 'buffer'));
}
