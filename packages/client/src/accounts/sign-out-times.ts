import { type AccountIdentity, accountName } from './push-account.js';
import type { PushAccountStore } from './push-account-store.js';

/** The last sign-out of an account. */
export interface SignOutTime {
  /** The account's name, from `accountName`. */
  readonly account: string;
  /** Unix milliseconds according to the device's clock, but always later than the account's previous sign-out. */
  readonly at: number;
}

/** Maximum number of sign-outs to keep. No phone has that many accounts. */
const mostTimes = 100;

/** Returns a copy of the times with the account's last sign-out replaced. Keeps the newest 100. */
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

/** Returns the sign-out times of an account table. If the table does not store sign-outs, keeps them in memory. */
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
