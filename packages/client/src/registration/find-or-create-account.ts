import { makePushAccount } from '../accounts/create-push-account.js';
import { type PushAccount, rowsOf } from '../accounts/push-account.js';
import type { RegistrarContext } from './registrar-context.js';

/** Finds the account in the table, or creates it. */
export async function findOrCreateAccount(context: RegistrarContext): Promise<PushAccount> {
  const { accounts, identity } = context;
  const [existing] = rowsOf(await accounts.list(), identity);
  return existing ?? accounts.addIfAbsent(await makePushAccount(accounts, identity, context));
}
