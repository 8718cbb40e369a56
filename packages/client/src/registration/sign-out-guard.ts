import { type AccountIdentity, isSameAccount, type PushAccount } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';

/** The registrar's account was signed out, in this tab or another tab, so its sync must stop. */
export class SignedOutError extends Error {
  constructor() {
    super('The account was signed out after its registrar was created.');
  }
}

/** Stops one registrar's writes after a sign-out of its account, even in tabs and processes that share no lock with it. */
export interface SignOutGuard {
  /** Returns whether the account was signed out since the guard was created. */
  isSignedOut(): Promise<boolean>;
  /** The account table. Once the account is signed out, writing its row throws {@link SignedOutError}. */
  readonly accounts: Required<PushAccountStore>;
  /** Returns the last written row. A concurrent sign-out may have missed this row, or data that was sent for it. */
  lastWritten(): PushAccount | undefined;
}

/** Creates the guard of a new registrar. */
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
  // Prevents an unhandled rejection. The first sync reads again, and throws the error if it persists.
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
        // Checked again: a sign-out records its time first, and then deletes rows. So either the sign-out sees this
        // row, or this check sees its time.
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
