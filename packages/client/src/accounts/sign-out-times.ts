import { type AccountIdentity, accountName } from './push-account.js';
import type { PushAccountStore } from './push-account-store.js';

/** The last sign-out of an account. */
export interface SignOutTime {
  /** See `accountName`. */
  readonly account: string;
  /** Unix milliseconds by the device's clock, but always later than the account's previous sign-out. */
  readonly at: number;
}

/** More accounts than any phone has. */
const mostTimes = 100;

/** Replaces the account's last sign-out. Keeps the newest 100. */
export function withSignOut(
  times: readonly SignOutTime[],
  identity: AccountIdentity,
  now: number,
): readonly SignOutTime[] {
  const account = accountName(identity);
  const before = signOutIn(times, identity);
  const others = times.filter((each) => each.account !== account);
  const at = before === undefined ? now : Math.max(now, before + 1);
  return [...others, { account, at }].slice(-mostTimes);
}

export function signOutIn(times: readonly SignOutTime[], identity: AccountIdentity): number | undefined {
  const account = accountName(identity);
  return times.find((each) => each.account === account)?.at;
}

type SignOutTimes = Required<Pick<PushAccountStore, 'noteSignOut' | 'lastSignOut'>>;

const timesOf = new WeakMap<PushAccountStore, SignOutTimes>();

/** The sign-outs of an account table. For a table that does not store them, they are kept in memory. */
export function signOutTimesOf(accounts: PushAccountStore): SignOutTimes {
  if (accounts.noteSignOut !== undefined && accounts.lastSignOut !== undefined) {
    return {
      noteSignOut: accounts.noteSignOut.bind(accounts),
      lastSignOut: accounts.lastSignOut.bind(accounts),
    };
  }
  const times = timesOf.get(accounts) ?? createMemorySignOutTimes();
  timesOf.set(accounts, times);
  return times;
}

function createMemorySignOutTimes(): SignOutTimes {
  let times: readonly SignOutTime[] = [];
  return {
    async noteSignOut(account, at) {
      times = withSignOut(times, account, at);
    },
    lastSignOut: async (account) => signOutIn(times, account),
  };
}
