import type { PushToken } from '../push-token.js';

/** How many times in a row a registration was repeated after the same error. */
export interface RegistrationRepeats {
  readonly errorCode: string;
  readonly count: number;
  /** Unix milliseconds according to the device's clock. */
  readonly lastAt: number;
}

/** The last registration that the server accepted. */
export interface SentRegistration {
  readonly pushToken: PushToken;
  readonly bouncerPublicKey: string;
  /** Unix seconds, according to the clock that the phone followed. */
  readonly timestamp: number;
  /** UUID of the organization; absent if its server did not report one. */
  readonly realmUuid?: string;
  /**
   * Set if the registration was repeated because the relay refused a key: the sequence number of the current key list
   * at that time.
   */
  readonly repeatedForSequence?: number;
  /** Set if this registration repeats a failed registration. */
  readonly repeats?: RegistrationRepeats;
}
