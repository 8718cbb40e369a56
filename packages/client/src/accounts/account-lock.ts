import { exclusively } from '../mutex.js';
import { type AccountIdentity, accountName } from './push-account.js';

/**
 * Runs a task while holding the account's lock, which is shared by all clients in this JavaScript context and in other
 * tabs. Without the lock, two clients in one app could register an account twice or overwrite each other's keys. This
 * happens, for example, when React's StrictMode runs an effect twice.
 */
export function exclusivelyOfAccount<T>(account: AccountIdentity, task: () => Promise<T>): Promise<T> {
  return exclusively(`waxwing.account ${accountName(account)}`, task);
}
