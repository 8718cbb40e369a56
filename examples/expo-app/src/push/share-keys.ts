import {
  type AccountIdentity,
  type ExtensionAccount,
  exportForExtension,
  type PushAccountStore,
} from '@waxwing/client';

/** Where native code finds the keys: a group of the keychain on iOS, and the module of this package on Android. */
export interface SharedKeys {
  put(owner: string, text: string): Promise<unknown>;
  remove(owner: string): Promise<unknown>;
}

/** Call it after each `sync`: passes every account's keys to native code. */
export async function shareKeys(accounts: PushAccountStore, keys: SharedKeys): Promise<void> {
  for (const account of await accounts.list()) {
    const text = exportForExtension(account);
    await keys.put(ownerOf(text), text);
  }
}

/** Call it before `forget`: removes the keys of one account. */
export async function unshareKeys(
  accounts: PushAccountStore,
  keys: SharedKeys,
  { realmUrl, userId }: AccountIdentity,
): Promise<void> {
  for (const account of await accounts.list()) {
    const owner = ownerOf(exportForExtension(account));
    // The same organization can be written in several ways, such as with a slash at the end.
    const isOwn = owner === ownerOf(exportForExtension({ ...account, realmUrl, userId }));
    if (isOwn) await keys.remove(owner);
  }
}

/**
 * Names the text of an account. A sync can replace the account's `pushAccountId`: the new text must then replace the
 * former one, and native code must still know which messages it has shown.
 */
export function ownerOf(text: string): string {
  const { realmOrigin, userId } = JSON.parse(text) as ExtensionAccount;
  return `${realmOrigin} ${userId}`;
}
