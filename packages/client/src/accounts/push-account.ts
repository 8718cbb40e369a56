import type { PushAccountId } from '@waxwing/protocol/phone';
import type { KeyPair } from '@waxwing/sodium';
import type { PushToken } from '../build-registration.js';
import { webOriginOf } from '../web-origin.js';

/** Whose notifications they are: one user of one organisation. */
export interface AccountIdentity {
  /** The organisation's URL, such as `https://chat.example.com`. */
  readonly realmUrl: string;
  readonly userId: number | bigint;
}

/** The registration that was last handed to the server. */
export interface SentRegistration {
  readonly pushToken: PushToken;
  readonly bouncerPublicKey: string;
  /** Unix seconds by the clock that the phone followed. */
  readonly timestamp: number;
  /** The key list that it was sent again for, after the relay had refused a key. */
  readonly repeatedForSequence?: number;
}

/** An account and the name that its notifications carry; holds no secret. */
export interface PushAccountIdentity extends AccountIdentity {
  /** Random, and unique in the table; arrives with every notification for this account. */
  readonly pushAccountId: PushAccountId;
}

/** One row of the phone's account table: what belongs to one account's push. It holds a private key. */
export interface PushAccount extends PushAccountIdentity {
  /** Notifications are sealed to its public half. */
  readonly keyPair: KeyPair;
  /** Sequence of the registration that was sealed last; absent before the first. */
  readonly sequence?: number;
  readonly registration?: SentRegistration;
}

/** Whether two identities are the same account: same origin, same user. */
export function isSameAccount(left: AccountIdentity, right: AccountIdentity): boolean {
  const origin = webOriginOf(left.realmUrl);
  return (
    origin !== undefined &&
    origin === webOriginOf(right.realmUrl) &&
    BigInt(left.userId) === BigInt(right.userId)
  );
}
