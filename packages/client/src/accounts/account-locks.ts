import { acrossTabs, createKeyedMutex } from '../mutex.js';
import { webOriginOf } from '../web-origin.js';
import type { AccountIdentity, PushAccount } from './push-account.js';
import type { PushAccountStore } from './push-account-store.js';

/**
 * What all clients on one account table share. Two clients of one app, as when React's StrictMode runs an effect twice,
 * would otherwise register an account twice.
 */
export interface AccountLocks {
  /** Runs a task when no other task of this account is running, in this tab or another one. */
  exclusively<T>(account: AccountIdentity, task: () => Promise<T>): Promise<T>;
  /** How often the account was signed out since the app started. */
  signOutsOf(account: AccountIdentity): number;
  countSignOut(account: AccountIdentity): void;
}

/** Accounts that any client signed out since the app started. Their ids are random: no two phones share one. */
const signedOut = new Set<PushAccount['pushAccountId']>();

/** Notes for all clients of the app that these accounts are signed out, also for those with another account table object. */
export function noteSignedOut(rows: readonly PushAccount[]): void {
  for (const { pushAccountId } of rows) signedOut.add(pushAccountId);
}

export function isSignedOut(pushAccountId: PushAccount['pushAccountId'] | undefined): boolean {
  return pushAccountId !== undefined && signedOut.has(pushAccountId);
}

const locksOf = new WeakMap<PushAccountStore, AccountLocks>();

/** Returns the locks of an account table: the same ones for the same object. */
export function accountLocksOf(accounts: PushAccountStore): AccountLocks {
  const locks = locksOf.get(accounts) ?? createAccountLocks();
  locksOf.set(accounts, locks);
  return locks;
}

function createAccountLocks(): AccountLocks {
  const exclusively = createKeyedMutex();
  const signOuts = new Map<string, number>();
  const signOutsOf = (account: AccountIdentity) => signOuts.get(nameOf(account)) ?? 0;
  return {
    exclusively(account, task) {
      const name = nameOf(account);
      return exclusively(name, () => acrossTabs(`waxwing.account ${name}`, task));
    },
    signOutsOf,
    countSignOut: (account) => void signOuts.set(nameOf(account), signOutsOf(account) + 1),
  };
}

function nameOf({ realmUrl, userId }: AccountIdentity): string {
  return `${webOriginOf(realmUrl)} ${userId}`;
}
