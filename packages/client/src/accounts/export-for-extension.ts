import { encodeBase64, formatPushAccountId } from '@waxwing/protocol/phone';
import { webOriginOf } from '../web-origin.js';
import type { PushAccount } from './push-account.js';

/** What the text of {@link exportForExtension} holds, as JSON. All values are text but the version. */
export interface ExtensionAccount {
  /** Grows when a field changes its meaning: code that reads the text refuses a version that it does not know. */
  readonly version: 1;
  /** Decimal digits: what `push_account_id` of a push is compared with. */
  readonly pushAccountId: string;
  /** Scheme, host and, unless it is the scheme's default, port of the organisation, in lower case. */
  readonly realmOrigin: string;
  /** Decimal digits. */
  readonly userId: string;
  /** Base64 of 32 bytes, as the next one. */
  readonly publicKey: string;
  readonly privateKey: string;
}

/**
 * What native code beside the app (a notification service extension on iOS, a messaging service on Android) needs to
 * open the account's notifications: its keys and whose they are, and neither push token nor registration. The text
 * holds the private key: hand it to the system's keychain, and to nothing else.
 * @throws RangeError when the account's `realmUrl` is no http or https URL.
 */
export function exportForExtension({ pushAccountId, realmUrl, userId, keyPair }: PushAccount): string {
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
  };
  return JSON.stringify(account);
}
