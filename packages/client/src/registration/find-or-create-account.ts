import { addPushAccount, makePushAccount } from '../accounts/create-push-account.js';
import { type PushAccount, rowsOf } from '../accounts/push-account.js';
import type { RegistrarContext } from './registrar-context.js';
import { type RegistrationStatus, registrationStatus } from './registration-status.js';

/** Finds the account in the table, or creates it. Returns `undefined` if the store does not keep accounts. */
export async function findOrCreateAccount(context: RegistrarContext): Promise<PushAccount | undefined> {
  const { accounts, identity } = context;
  const [existing] = rowsOf(await accounts.list(), identity);
  return existing ?? addPushAccount(accounts, await makePushAccount(accounts, identity, context));
}

/** Status of an account whose keys the store does not keep. */
export function noStorage(): RegistrationStatus {
  return registrationStatus('no-storage', {
    warning:
      "The store of accounts does not return the account that was just stored: without its keys this phone could open no notification, so it is not registered. Check that the app's storage keeps what it is given.",
  });
}
