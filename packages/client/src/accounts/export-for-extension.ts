import { encodeBase64, formatPushAccountId } from '@waxwing/protocol/phone';
import { webOriginOf } from '../web-origin.js';
import type { PushAccount } from './push-account.js';

/** JSON shape of {@link exportForExtension}. All values are strings except `version` and `pushKeys`. */
export interface ExtensionAccount {
  /** Incremented when the meaning of a field changes. Readers must reject unknown versions. */
  readonly version: 1;
  /** Decimal digits; equals the `push_account_id` of the account's pushes. */
  readonly pushAccountId: string;
  /** The organization's origin, in lowercase: scheme, host, and port if it is not the default. */
  readonly realmOrigin: string;
  /** Decimal digits. */
  readonly userId: string;
  /** Base64 of 32 bytes, like `privateKey`. */
  readonly publicKey: string;
  readonly privateKey: string;
  /** Keys for pushes with `push_key_id`. Absent in exports from older app versions, which had no push keys. */
  readonly pushKeys: readonly ExtensionPushKey[];
}

export interface ExtensionPushKey {
  /** Decimal digits; equals the `push_key_id` of pushes that the key opens. */
  readonly pushKeyId: string;
  /** Base64 of 32 bytes. */
  readonly key: string;
}

/**
 * Exports the account's keys as JSON ({@link ExtensionAccount}), so that native code can open its notifications: a
 * notification service extension on iOS or a messaging service on Android. The JSON contains the keys and the account's
 * identity, but not the push token or the registration. The keys are secret, so store the JSON only in the system's
 * keychain. A sync can change the keys, so export them again after each sync.
 *
 * @throws RangeError if the account's `realmUrl` is not an http or https URL.
 */
export function exportForExtension(row: PushAccount): string {
  const { pushAccountId, realmUrl, userId, keyPair, device } = row;
  const realmOrigin = webOriginOf(realmUrl);
  if (realmOrigin === undefined) {
    throw new RangeError(`realmUrl must be an absolute URL such as https://chat.example.com: ${realmUrl}`);
  }
  const account: ExtensionAccount = {
    version: 1,
    pushAccountId: formatPushAccountId(pushAccountId),
    realmOrigin,
    userId: String(userId),
    publicKey: encodeBase64(keyPair.publicKey),
    privateKey: encodeBase64(keyPair.privateKey),
    pushKeys: (device?.pushKeys ?? []).map(({ pushKeyId, key }) => ({
      pushKeyId: String(pushKeyId),
      key: encodeBase64(key),
    })),
  };
  return JSON.stringify(account);
}
