import {
  type AccountIdentity,
  type ExtensionAccount,
  exportForExtension,
  type PushAccountStore,
} from '@waxwing/client';

/** Store from which native code reads the keys: a keychain group on iOS, and this package's module on Android. */
export interface SharedKeys {
  put(owner: string, text: string): Promise<unknown>;
  remove(owner: string): Promise<unknown>;
}

/** Passes every account's keys to native code. Call this after each `sync`. */
export async function shareKeys(accounts: PushAccountStore, keys: SharedKeys): Promise<void> {
  for (const account of await accounts.list()) {
    const text = exportForExtension(account);
    await keys.put(ownerOf(text), text);
  }
}

/** Removes the keys of one account. Call this before `forget`. */
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
 * Returns the name under which an account's text is stored. A sync can replace the account's `pushAccountId`. The new
 * text must then replace the previous text, and native code must still know which messages it has shown.
 */
export function ownerOf(text: string): string {
  const { realmOrigin, userId } = JSON.parse(text) as ExtensionAccount;
  return `${realmOrigin} ${userId}`;
}
