import { type PushAccountId, pushAccountIdFromBytes } from '@waxwing/protocol/phone';
import type { Sodium } from '@waxwing/sodium';
import type { AccountIdentity, PushAccount } from './push-account.js';
import type { PushAccountStore } from './push-account-store.js';

/** Unpredictable bytes of the given length. */
export type Random = (length: number) => Uint8Array;

const mostTries = 100;

/**
 * A push account id that no row of the table has: 63 random bits.
 * @throws Error when the random source repeats itself a hundred times.
 */
export async function pickPushAccountId(accounts: PushAccountStore, random: Random): Promise<PushAccountId> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const pushAccountId = pushAccountIdFromBytes(random(8));
    if ((await accounts.get(pushAccountId)) === undefined) return pushAccountId;
  }
  throw new Error(`The random source gave ${mostTries} push account ids that are all taken: it is broken.`);
}

/** A new row of the table for this account, with a new key pair; already stored. */
export async function createPushAccount(
  accounts: PushAccountStore,
  identity: AccountIdentity,
  source: { readonly sodium: Sodium; readonly random: Random },
): Promise<PushAccount> {
  const account: PushAccount = {
    pushAccountId: await pickPushAccountId(accounts, source.random),
    realmUrl: identity.realmUrl,
    userId: identity.userId,
    keyPair: source.sodium.generateKeyPair(),
  };
  await accounts.put(account);
  return account;
}
