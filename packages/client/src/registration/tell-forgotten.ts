import type { ForgottenAccount, ForgottenAccountStore } from '../accounts/forgotten-account.js';
import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import { type ChatApiOptions, createChatApi } from '../chat-api/chat-api.js';
import type { PhoneClock } from '../server-clock.js';

/** After so long the app's sign-in is worth nothing any more, and the vendors have long called the token dead. */
const longestTryingMilliseconds = 30 * 86_400_000;
/** Short, since a sync waits for it. */
const timeoutMilliseconds = 10_000;

export interface TellForgottenContext {
  readonly forgotten: ForgottenAccountStore;
  readonly clock: PhoneClock;
  readonly fetch?: ChatApiOptions['fetch'];
}

/**
 * Tells each server to forget the accounts that were signed out from this phone. One that cannot be told now stays in the
 * store for the next time, for 30 days; one whose server refuses, because it knows no such operation or has
 * dropped the sign-in and the phones with it, is done. @throws what the store throws.
 */
export async function tellForgotten(context: TellForgottenContext): Promise<void> {
  const accounts = await context.forgotten.list();
  await Promise.all(accounts.map((account) => tellOne(context, account)));
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
