import { type AccountIdentity, isSameAccount, type PushAccount } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';

/** Thrown to stop a sync if the registrar's account was signed out, in this tab or another one. */
export class SignedOutError extends Error {
  constructor() {
    super('The account was signed out after its registrar was created.');
  }
}

/**
 * Guard that blocks a registrar's writes once its account is signed out, even by a tab or process that shares no lock
 * with the registrar.
 */
export interface SignOutGuard {
  /** Returns whether the account has been signed out since the guard was created. */
  isSignedOut(): Promise<boolean>;
  /** The account table. Once the account is signed out, writing its row throws a {@link SignedOutError}. */
  readonly accounts: Required<PushAccountStore>;
  /** Returns the last written row. A concurrent sign-out may have missed this row, or data that was sent for it. */
  lastWritten(): PushAccount | undefined;
}

/** Creates the guard for a new registrar. */
export function guardSignOut(accounts: Required<PushAccountStore>, identity: AccountIdentity): SignOutGuard {
  let written: PushAccount | undefined;
  let known: Promise<number | undefined> | undefined;
  const knownAtStart = () => {
    known ??= accounts.lastSignOut(identity).catch((error) => {
      known = undefined;
      throw error;
    });
    return known;
  };
  // Prevents an unhandled rejection. The error is not lost: the first sync reads the time again, and throws if reading
  // still fails.
  knownAtStart().catch(() => {});

  async function isSignedOut(): Promise<boolean> {
    const before = await knownAtStart();
    const last = await accounts.lastSignOut(identity);
    return last !== undefined && last !== before;
  }
  async function requireSignedIn(): Promise<void> {
    if (await isSignedOut()) throw new SignedOutError();
  }
  return {
    isSignedOut,
    lastWritten: () => written,
    accounts: {
      ...accounts,
      async put(account) {
        if (!isSameAccount(account, identity)) return accounts.put(account);
        written = account;
        await requireSignedIn();
        await accounts.put(account);
        // Checks again: a sign-out first records its time and then deletes rows, so either the sign-out sees this row
        // or this check sees the time.
        await requireSignedIn();
      },
      async addIfAbsent(account) {
        const added = await accounts.addIfAbsent(account);
        if (added.pushAccountId === account.pushAccountId) written = account;
        await requireSignedIn();
        return added;
      },
    },
  };
}
