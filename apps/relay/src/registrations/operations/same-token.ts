import {
  formatPushAccountId,
  type PushAccountId,
  type PushAccountIdText,
  parsePushAccountId,
  type relayRegisterAnswer,
} from '@waxwing/protocol';
import type { z } from 'zod';
import type { KeptRegistration } from '../opening/registration-batches.js';

/** The accounts of a user without this one, as decimal text. */
export function otherAccounts(
  account: PushAccountId | undefined,
  accountsOfUser: readonly PushAccountId[] = [],
): readonly PushAccountIdText[] {
  return accountsOfUser.filter((each) => each !== account).map(formatPushAccountId);
}

/** Formats a stored registration as the relay's answer. */
export function formatKept({
  deviceId,
  sameTokenAccounts,
}: KeptRegistration): z.output<typeof relayRegisterAnswer> {
  const ids = sameTokenAccounts.flatMap((text) => parsePushAccountId(text) ?? []);
  return ids.length === 0
    ? { device_id: deviceId }
    : { device_id: deviceId, same_token_push_account_ids: ids };
}
