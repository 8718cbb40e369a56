import type { PushToken } from '../push-token.js';

/** The number of consecutive times that a registration was repeated after the same error. */
export interface RegistrationRepeats {
  readonly errorCode: string;
  readonly count: number;
  /** Unix milliseconds by the device's clock. */
  readonly lastAt: number;
}

/** The last registration that the server accepted. */
export interface SentRegistration {
  readonly pushToken: PushToken;
  readonly bouncerPublicKey: string;
  /** Unix seconds, by the clock that the phone followed. */
  readonly timestamp: number;
  /** UUID of the organization; absent if its server did not report one. */
  readonly realmUuid?: string;
  /** Sequence of the key list that was current when the registration was repeated because the relay had refused a key. */
  readonly repeatedForSequence?: number;
  /** Set if this registration repeats a failed registration. */
  readonly repeats?: RegistrationRepeats;
}
