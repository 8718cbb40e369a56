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

/** An account with the id that its notifications contain; contains no secrets. */
export interface PushAccountIdentity extends AccountIdentity {
  /** Random 63-bit id, unique in the table. Every push for this account contains it as `push_account_id`. */
  readonly pushAccountId: PushAccountId;
}

/**
 * A row of the phone's account table: one account's push state. Contains a private key and secret keys, so `JSON.stringify`
 * throws a TypeError on it (its id is a `bigint`), which keeps the keys out of logs. To store a row, use
 * `encodePushAccount`.
 */
export interface PushAccount extends PushAccountIdentity {
  /** X25519 key pair; notifications of the older generation are sealed to its public key. */
  readonly keyPair: KeyPair;
  /** Sequence of the last sealed registration for the key pair; absent before the first. */
  readonly sequence?: number;
  /** Registration of the older generation; absent before the first, and once a newer one has replaced it. */
  readonly registration?: SentRegistration;
  /** Registration of the newer generation; absent before the first sync with a server that has it. */
  readonly device?: AccountDevice;
}

/** A text that identifies an account: the same for all its identities. */
export function accountName({ realmUrl, userId }: AccountIdentity): string {
  return `${webOriginOf(realmUrl)} ${userId}`;
}

/** Whether two identities are the same account: same origin and same user id. */
export function isSameAccount(left: AccountIdentity, right: AccountIdentity): boolean {
  const origin = webOriginOf(left.realmUrl);
  return (
    origin !== undefined &&
    origin === webOriginOf(right.realmUrl) &&
    BigInt(left.userId) === BigInt(right.userId)
  );
}

/**
 * The rows of one account, smallest id first. Two clients on one table may each have added one. All clients use the
 * first row, and a sync drops the others.
 */
export function rowsOf(rows: readonly PushAccount[], identity: AccountIdentity): readonly PushAccount[] {
  return rows
    .filter((row) => isSameAccount(row, identity))
    .sort((one, other) => (one.pushAccountId < other.pushAccountId ? -1 : 1));
}
