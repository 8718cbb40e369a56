import { type PushAccountId, pushAccountIdFromBytes } from '@waxwing/protocol/phone';
import type { Sodium } from '@waxwing/sodium';
import type { AccountIdentity, PushAccount } from './push-account.js';
import type { PushAccountStore } from './push-account-store.js';

/** Returns `length` cryptographically secure random bytes. */
export type Random = (length: number) => Uint8Array;

const mostTries = 100;

/**
 * Picks an unused push account id: 63 random bits.
 *
 * @throws Error if 100 random ids in a row are already in use, which means that the random source is broken.
 */
export async function pickPushAccountId(accounts: PushAccountStore, random: Random): Promise<PushAccountId> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const pushAccountId = pushAccountIdFromBytes(random(8));
    if ((await accounts.get(pushAccountId)) === undefined) return pushAccountId;
  }
  throw new Error(
    `The random source returned ${mostTries} push account ids that are all in use, so it is broken.`,
  );
}

/** Creates a row for this account with a new id and key pair, but does not add it to the table. */
export async function makePushAccount(
  accounts: PushAccountStore,
  { realmUrl, userId }: AccountIdentity,
  { sodium, random }: { readonly sodium: Sodium; readonly random: Random },
): Promise<PushAccount> {
  const pushAccountId = await pickPushAccountId(accounts, random);
  return { pushAccountId, realmUrl, userId, keyPair: sodium.generateKeyPair() };
}
