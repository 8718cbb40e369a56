import type { ForgottenAccount, ForgottenAccountStore } from '../accounts/forgotten-account.js';
import type { AccountIdentity, PushAccount } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';
import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import { type ChatApiOptions, createChatApi } from '../chat-api/chat-api.js';
import type { PhoneClock } from '../server-clock.js';

/** After so long the app's sign-in is worth nothing any more, and the vendors have long called the token dead. */
const longestTryingMilliseconds = 30 * 86_400_000;
/** Short, since a sign-out waits for it. */
const timeoutMilliseconds = 10_000;

export interface TellForgottenContext {
  readonly forgotten: ForgottenAccountStore;
  readonly accounts: PushAccountStore;
  /** Runs a task when no other is at work on this account. */
  readonly inTurnOf: (account: AccountIdentity, task: () => Promise<void>) => Promise<void>;
  readonly clock: PhoneClock;
  readonly fetch?: ChatApiOptions['fetch'];
}

/**
 * Tells each server to forget the accounts that were signed out from this phone. One that cannot be told now stays in the
 * store for the next time, for 30 days; one whose server refuses, because it knows no such operation or has
 * dropped the sign-in and the phones with it, is done. @throws what the stores throw.
 */
export async function tellForgotten(context: TellForgottenContext): Promise<void> {
  const { forgotten, accounts, inTurnOf } = context;
  const toTell = await forgotten.list();
  // First, or a row that is still there would go on as an account of which its server no longer knows.
  const rows = halfForgotten(await accounts.list(), toTell);
  await Promise.all(rows.map((row) => inTurnOf(row, () => accounts.remove(row.pushAccountId))));
  await Promise.all(toTell.map((account) => tellOne(context, account)));
}

/** The rows of accounts whose sign-out stopped half-way, because the app ended in between. */
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
