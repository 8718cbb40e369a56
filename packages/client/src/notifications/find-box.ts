import type { OpeningSodium } from '@waxwing/sodium';
import { secretBoxNonceBytes } from '@waxwing/sodium/byte-sizes';
import type { PushAccount } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';
import type { ParsedPush } from './received-push.js';

/** The methods of an account table that opening notifications requires. */
export type AccountReader = Pick<PushAccountStore, 'get' | 'list'>;

/** The ciphertext of a push, and the account that the push is addressed to. */
export interface Box {
  readonly account: PushAccount;
  /** Returns `undefined` if decryption fails for any reason. */
  open(sodium: OpeningSodium): Uint8Array | undefined;
}

/** Finds the account that a push is addressed to. Returns `undefined` if no account on the phone has the key. */
export async function findBox(
  accounts: AccountReader,
  push: Extract<ParsedPush, { ciphertext: Uint8Array }>,
): Promise<Box | undefined> {
  const { ciphertext } = push;
  if (push.kind === 'sealed-to-account') {
    const account = await accounts.get(push.pushAccountId);
    return account && { account, open: (sodium) => sodium.openSealed(ciphertext, account.keyPair) };
  }
  for (const account of await accounts.list()) {
    const found = account.device?.pushKeys.find(({ pushKeyId }) => pushKeyId === push.pushKeyId);
    if (found !== undefined)
      return { account, open: (sodium) => openSecretBox(sodium, ciphertext, found.key) };
  }
  return undefined;
}

/** Decrypts a secret box that is preceded by its nonce. */
function openSecretBox(
  sodium: OpeningSodium,
  ciphertext: Uint8Array,
  key: Uint8Array,
): Uint8Array | undefined {
  if (ciphertext.length < secretBoxNonceBytes) return undefined;
  return sodium.openSecretBox(
    ciphertext.subarray(secretBoxNonceBytes),
    ciphertext.subarray(0, secretBoxNonceBytes),
    key,
  );
}
