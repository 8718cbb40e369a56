import { type PushAccountId, pushAccountIdFromBytes } from '@waxwing/protocol/phone';
import type { Sodium } from '@waxwing/sodium';
import { type AccountIdentity, type PushAccount, rowsOf } from './push-account.js';
import type { PushAccountStore } from './push-account-store.js';

/** Returns `length` cryptographically secure random bytes. */
export type Random = (length: number) => Uint8Array;

const mostTries = 100;

/**
 * Picks an unused push account id: 63 random bits.
 *
 * @throws Error if 100 random ids are all taken, which means that the random source is broken.
 */
export async function pickPushAccountId(accounts: PushAccountStore, random: Random): Promise<PushAccountId> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const pushAccountId = pushAccountIdFromBytes(random(8));
    if ((await accounts.get(pushAccountId)) === undefined) return pushAccountId;
  }
  throw new Error(
    `The random source gave ${mostTries} push account ids that are all taken, so it is broken.`,
  );
}

/** Makes a row for this account, with a new id and key pair. It is not in the table yet. */
export async function makePushAccount(
  accounts: PushAccountStore,
  { realmUrl, userId }: AccountIdentity,
  { sodium, random }: { readonly sodium: Sodium; readonly random: Random },
): Promise<PushAccount> {
  const pushAccountId = await pickPushAccountId(accounts, random);
  return { pushAccountId, realmUrl, userId, keyPair: sodium.generateKeyPair() };
}

/**
 * Adds a row to the table. Returns the row that the table has afterwards, which another client may have added. Returns
 * `undefined` if the store does not keep it.
 */
export function addPushAccount(
  accounts: Required<PushAccountStore>,
  account: PushAccount,
): Promise<PushAccount | undefined> {
  return untilStored(async () => {
    await accounts.addIfAbsent(account);
    const [row] = rowsOf(await accounts.list(), account);
    return row;
  });
}

const mostWrites = 3;

/**
 * Repeats a write that the store does not return, up to three times: another tab or process without a lock may have
 * overwritten it. Returns `undefined` for a store that forgets.
 *
 * @param write writes, and returns what the store has afterwards; `undefined` if it lacks what was written.
 */
export async function untilStored<T>(write: () => Promise<T | undefined>): Promise<T | undefined> {
  for (let writes = 0; writes < mostWrites; writes += 1) {
    const stored = await write();
    if (stored !== undefined) return stored;
  }
  return undefined;
}
