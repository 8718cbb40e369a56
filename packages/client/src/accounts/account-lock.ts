import { exclusively } from '../mutex.js';
import { type AccountIdentity, accountName } from './push-account.js';

/**
 * Runs a task while holding the account's lock, which all clients in this JavaScript context and in other tabs share.
 * Without the lock, two clients of one app (for example because React's StrictMode runs an effect twice) would register
 * an account twice, or overwrite each other's keys.
 */
export function exclusivelyOfAccount<T>(account: AccountIdentity, task: () => Promise<T>): Promise<T> {
  return exclusively(`waxwing.account ${accountName(account)}`, task);
}
