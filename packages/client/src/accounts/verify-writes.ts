import { type PushAccount, rowsOf } from './push-account.js';
import type { PushAccountStore } from './push-account-store.js';
import { encodePushAccount } from './push-account-text.js';

/** Thrown if the account table does not return what was written to it. */
export class ForgetfulStoreError extends Error {
  constructor() {
    super(
      "The account store does not return the account that was just stored: without its keys, this phone cannot open notifications. Check that the app's storage persists data.",
    );
  }
}

const mostWrites = 3;

/**
 * Wraps an account table so that each write is verified by reading the row back. Retries a write that had no effect,
 * because another tab or process may have overwritten the row without taking the lock. After three such writes, throws
 * a `ForgetfulStoreError`. If another tab has changed the row in the meantime, the write counts as successful.
 */
export function verifyWrites(accounts: Required<PushAccountStore>): Required<PushAccountStore> {
  return {
    ...accounts,
    put: (account) =>
      untilStored(async () => {
        const before = textOf(await accounts.get(account.pushAccountId));
        await accounts.put(account);
        const after = textOf(await accounts.get(account.pushAccountId));
        const isStored = after === textOf(account) || (after !== undefined && after !== before);
        return isStored || undefined;
      }).then(() => {}),
    addIfAbsent: (account) =>
      untilStored(async () => {
        await accounts.addIfAbsent(account);
        const [row] = rowsOf(await accounts.list(), account);
        return row;
      }),
  };
}

async function untilStored<T>(write: () => Promise<T | undefined>): Promise<T> {
  for (let writes = 0; writes < mostWrites; writes += 1) {
    const stored = await write();
    if (stored !== undefined) return stored;
  }
  throw new ForgetfulStoreError();
}

function textOf(account: PushAccount | undefined): string | undefined {
  return account && encodePushAccount(account);
}
