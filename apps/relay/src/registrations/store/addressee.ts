import { hash } from 'node:crypto';
import {
  type PushAccountId,
  type PushAccountIdText,
  type TokenId,
  tokenIdFromDigest,
} from '@waxwing/protocol';

/**
 * Who a device and its notifications are for, within a realm. In the older generation of the protocol: a push account, in
 * decimal. In the newer one: a token, as `token:` and its id. Without encryption: a user, as `user:` and its id. The columns
 * named `push_account_id` hold it.
 */
export type Addressee = PushAccountIdText | TokenAddressee | UserAddressee;

/** `user:` and a user's UUID, or the id that its server gave it. */
export type UserAddressee = `user:${string}`;

/** `token:` and a token's id. */
export type TokenAddressee = `token:${string}`;

const tokenPrefix = 'token:';

export function addresseeOfToken(tokenId: TokenId): TokenAddressee {
  return `${tokenPrefix}${tokenId}`;
}

/** The token's id of an addressee of the newer generation. */
export function tokenIdOf(addressee: Addressee): TokenId | undefined {
  return addressee.startsWith(tokenPrefix) ? (addressee.slice(tokenPrefix.length) as TokenId) : undefined;
}

/** The account of an addressee of the older generation; `undefined` for others. */
export function pushAccountOf(addressee: Addressee): PushAccountId | undefined {
  return /^-?\d+$/.test(addressee) ? (BigInt(addressee) as PushAccountId) : undefined;
}

/** Computes the id that the newer generation gives a token. */
export function computeTokenId(token: string): TokenId {
  return tokenIdFromDigest(hash('sha256', token, 'buffer'));
}
