import type { PushAccountId } from '@waxwing/protocol/phone';
import type { KeyPair } from '@waxwing/sodium';
import { webOriginOf } from '../web-origin.js';
import type { AccountDevice } from './account-device.js';
import type { SentRegistration } from './sent-registration.js';

/** One user of one organization. */
export interface AccountIdentity {
  /** The organization's URL, such as `https://chat.example.com`. */
  readonly realmUrl: string;
  readonly userId: number | bigint;
}

/** An account, identified by the id that its notifications contain. Contains no secrets. */
export interface PushAccountIdentity extends AccountIdentity {
  /** Random 63-bit id, unique in the table. Every push for this account contains it as `push_account_id`. */
  readonly pushAccountId: PushAccountId;
}

/**
 * A row of the phone's account table: one account's push state. Contains a private key and secret keys.
 * `JSON.stringify` throws a TypeError for a row, because its id is a `bigint`; this keeps the keys out of logs. To
 * store a row, use `encodePushAccount`.
 */
export interface PushAccount extends PushAccountIdentity {
  /** X25519 key pair; notifications of the older generation are sealed to its public key. */
  readonly keyPair: KeyPair;
  /** Sequence number of the last registration sealed for this key pair; absent before the first registration. */
  readonly sequence?: number;
  /**
   * Registration of the older generation; absent before the first registration, and once a registration of the newer
   * generation has replaced it.
   */
  readonly registration?: SentRegistration;
  /** Registration of the newer generation; absent before the first sync with a server that supports this generation. */
  readonly device?: AccountDevice;
}

/** Returns a string that identifies an account. It is the same for every spelling of the account's URL. */
export function accountName({ realmUrl, userId }: AccountIdentity): string {
  return `${webOriginOf(realmUrl)} ${userId}`;
}

/** Returns whether two identities refer to the same account, that is, the same origin and user id. */
export function isSameAccount(left: AccountIdentity, right: AccountIdentity): boolean {
  const origin = webOriginOf(left.realmUrl);
  return (
    origin !== undefined &&
    origin === webOriginOf(right.realmUrl) &&
    BigInt(left.userId) === BigInt(right.userId)
  );
}

/**
 * Returns the rows of one account, smallest id first. An account can have several rows, because two clients of the same
 * table may each have added one. All clients use the first row, and a sync drops the others.
 */
export function rowsOf(rows: readonly PushAccount[], identity: AccountIdentity): readonly PushAccount[] {
  return rows
    .filter((row) => isSameAccount(row, identity))
    .sort((one, other) => (one.pushAccountId < other.pushAccountId ? -1 : 1));
}
