import {
  formatPushAccountId,
  type PushAccountId,
  type PushAccountIdText,
  type TokenId,
} from '@waxwing/protocol';

/**
 * A user's other registrations in both generations, at most the newest 100 of each. The relay compares their tokens
 * with the new registration's token.
 */
export interface OtherRegistrations {
  readonly accountsOfUser: readonly PushAccountIdText[];
  readonly tokenIdsOfUser: readonly TokenId[];
}

export const noOthers: OtherRegistrations = { accountsOfUser: [], tokenIdsOfUser: [] };

/**
 * The user's other registrations that have the same token, according to the relay; empty if the relay does not compare
 * tokens. They belong to the same phone, which would get every notification once per registration.
 */
export interface SameToken {
  readonly sameTokenAccounts: readonly PushAccountIdText[];
  readonly sameTokenIds: readonly TokenId[];
}

// An account id of up to 19 digits, its sign and a comma.
const charactersPerAccount = 21;
// A token id of 12 characters, two quotes and a comma.
const charactersPerTokenId = 15;

/** Returns the number of characters that the user's other registrations need in a request, rounded up. */
export function charactersOfUser({ accountsOfUser, tokenIdsOfUser }: OtherRegistrations): number {
  return accountsOfUser.length * charactersPerAccount + tokenIdsOfUser.length * charactersPerTokenId;
}

/** Reads the relay's response to a registration of either generation. */
export function readSameToken({
  same_token_push_account_ids: accounts = [],
  same_token_ids: sameTokenIds = [],
}: {
  readonly same_token_push_account_ids?: readonly PushAccountId[] | undefined;
  readonly same_token_ids?: readonly TokenId[] | undefined;
}): SameToken {
  return { sameTokenAccounts: accounts.map(formatPushAccountId), sameTokenIds };
}
