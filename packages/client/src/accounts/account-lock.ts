import { exclusively } from '../mutex.js';
import { type AccountIdentity, accountName } from './push-account.js';

/**
 * Runs a task when no other task of this account is running, in any client of this JavaScript context or in another tab.
 * Otherwise two clients of one app (React's StrictMode runs an effect twice, for example) would register an account
 * twice, or overwrite each other's keys.
 */
export function exclusivelyOfAccount<T>(account: AccountIdentity, task: () => Promise<T>): Promise<T> {
  return exclusively(`waxwing.account ${accountName(account)}`, task);
}
