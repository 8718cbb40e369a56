import type { ForgottenAccount, ForgottenAccountStore } from '../accounts/forgotten-account.js';
import type { AccountIdentity, PushAccount } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';
import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import { type ChatApiOptions, createChatApi } from '../chat-api/chat-api.js';
import type { PhoneClock } from '../server-clock.js';

/** By then the app's credentials are obsolete, and the vendors have long reported the token dead. */
const longestTryingMilliseconds = 30 * 86_400_000;
/** Short, because a sign-out waits for it. */
const timeoutMilliseconds = 10_000;

export interface TellForgottenContext {
  readonly forgotten: ForgottenAccountStore;
  readonly accounts: PushAccountStore;
  /** Runs a task when no other task of this account is running. */
  readonly inTurnOf: (account: AccountIdentity, task: () => Promise<void>) => Promise<void>;
  readonly clock: PhoneClock;
  readonly fetch?: ChatApiOptions['fetch'];
}

/**
 * Asks each server to delete the accounts that were signed out of this phone. Failures stay in the store and are
 * retried later, for 30 days. A refusal is final: the server does not know the operation, or has dropped the
 * credentials and their devices.
 *
 * @throws errors of the stores.
 */
export async function tellForgotten(context: TellForgottenContext): Promise<void> {
  const { forgotten, accounts, inTurnOf } = context;
  const toTell = await forgotten.list();
  // First: a remaining row would otherwise stay an account that its server no longer knows.
  const rows = halfForgotten(await accounts.list(), toTell);
  await Promise.all(rows.map((row) => inTurnOf(row, () => accounts.remove(row.pushAccountId))));
  await Promise.all(toTell.map((account) => tellOne(context, account)));
}

/** Rows whose sign-out was interrupted because the app exited. */
export function halfForgotten(
  rows: readonly PushAccount[],
  forgotten: readonly ForgottenAccount[],
): readonly PushAccount[] {
  const ids = new Set(forgotten.map(({ pushAccountId }) => pushAccountId));
  return rows.filter(({ pushAccountId }) => ids.has(pushAccountId));
}

async function tellOne(context: TellForgottenContext, account: ForgottenAccount): Promise<void> {
  const { forgotten, clock, fetch } = context;
  const isOld = clock() - account.forgottenAt > longestTryingMilliseconds;
  const options = { clock, timeoutMilliseconds, ...(fetch === undefined ? {} : { fetch }) };
  if (isOld || (await isTold({ ...account, ...options }, account))) {
    await forgotten.remove(account.pushAccountId);
  }
}

async function isTold(options: ChatApiOptions, { pushAccountId }: ForgottenAccount): Promise<boolean> {
  try {
    await createChatApi(options).unregisterPushDevice(pushAccountId);
    return true;
  } catch (error) {
    if (error instanceof UnreachableError) return false;
    if (error instanceof ApiError) return error.remedy !== 'retry-later';
    throw error;
  }
}
