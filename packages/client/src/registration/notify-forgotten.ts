import type { Sodium } from '@waxwing/sodium';
import { exclusivelyOfAccount } from '../accounts/account-lock.js';
import type { ForgottenAccount, ForgottenAccountStore } from '../accounts/forgotten-account.js';
import type { PushAccount } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';
import { type ChatApiOptions, createChatApi } from '../chat-api/chat-api.js';
import { platformFetch } from '../chat-api/fetch.js';
import { createRelayApi } from '../chat-api/relay-api.js';
import type { PhoneClock } from '../server-clock.js';
import { generations } from './choose-generation.js';
import { isFinal, isFinalIfKnown } from './is-final.js';

/**
 * How long to retry. After this time, the account's credentials are obsolete and the vendor has reported the token as
 * dead.
 */
const longestTryingMilliseconds = 30 * 86_400_000;
/** Timeout of one request. Short, because signing out waits for it. */
const timeoutMilliseconds = 10_000;

export interface NotifyForgottenContext {
  readonly forgotten: ForgottenAccountStore;
  readonly accounts: PushAccountStore;
  readonly clock: PhoneClock;
  readonly sodium: Sodium;
  /** The relay's URL, if phones may call the relay directly. */
  readonly relayUrl?: string | undefined;
  readonly fetch?: ChatApiOptions['fetch'];
}

/**
 * Asks each server to delete the accounts that were signed out on this phone. Failures stay in the store and are
 * retried for 30 days. A refusal is final, because it means that the server does not support the operation or has
 * already dropped the credentials and their devices.
 *
 * @param more sign-outs that may be missing from the store because a concurrent sign-out of the same account overwrote
 * them.
 *
 * @throws errors from the stores.
 */
export async function notifyForgotten(
  context: NotifyForgottenContext,
  more: readonly ForgottenAccount[] = [],
): Promise<void> {
  const { forgotten, accounts } = context;
  const stored = await forgotten.list();
  const isStored = (account: ForgottenAccount) => stored.some((each) => isSameSignOut(each, account));
  const toNotify = [...stored, ...more.filter((account) => !isStored(account))];
  // First removes rows left behind by an interrupted sign-out. Once the server is notified, nothing else would find
  // them.
  const rows = halfForgotten(await accounts.list(), toNotify);
  await Promise.all(rows.map((row) => exclusivelyOfAccount(row, () => accounts.remove(row.pushAccountId))));
  await Promise.all(toNotify.map((account) => notifyOne(context, account)));
}

/** Returns the rows whose sign-out was interrupted because the app exited. */
export function halfForgotten(
  rows: readonly PushAccount[],
  forgotten: readonly ForgottenAccount[],
): readonly PushAccount[] {
  const ids = new Set(forgotten.map(({ pushAccountId }) => pushAccountId));
  return rows.filter(({ pushAccountId }) => ids.has(pushAccountId));
}

async function notifyOne(context: NotifyForgottenContext, account: ForgottenAccount): Promise<void> {
  const { forgotten, clock } = context;
  const isOld = clock() - account.forgottenAt > longestTryingMilliseconds;
  if (isOld || (await isNotified(context, account))) {
    const stored = (await forgotten.list()).some((each) => isSameSignOut(each, account));
    if (stored) await forgotten.remove(account.pushAccountId);
  }
}

/**
 * Returns whether two records belong to the same sign-out. Also compares the device ids, because a sync that runs
 * concurrently with a sign-out can create another device for the account.
 */
function isSameSignOut(one: ForgottenAccount, other: ForgottenAccount): boolean {
  return one.pushAccountId === other.pushAccountId && one.deviceId === other.deviceId;
}

/** Notifies the server and the relay of a sign-out. Returns `false` if any request must be retried. */
async function isNotified(
  { clock, fetch, relayUrl }: NotifyForgottenContext,
  account: ForgottenAccount,
): Promise<boolean> {
  const { realmUrl, email, apiKey, revocations = [] } = account;
  const connection = { clock, timeoutMilliseconds, fetch: fetch ?? platformFetch };
  const api = createChatApi({ realmUrl, email, apiKey, ...connection });
  const relay = relayUrl === undefined ? undefined : createRelayApi({ relayUrl, ...connection });
  // Sends revocations to both the server and the relay: the server may not forward them, and the phone may be unable to
  // reach the relay.
  const requests = [
    ...generations.map((generation) => isFinal(generation.remove(api, account))),
    ...revocations.map((revocation) => isFinalIfKnown(api.revokePush(revocation))),
    ...(relay === undefined ? [] : revocations.map((revocation) => isFinal(relay.revoke(revocation)))),
  ];
  return (await Promise.all(requests)).every((done) => done);
}
