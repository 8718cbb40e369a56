import type { PushToken } from '../push-token.js';

/** Count of consecutive repeats of a registration after the same error. */
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
   * Sequence number of the key list that was current when the registration was repeated because the relay refused a
   * key; absent if it was not.
   */
  readonly repeatedForSequence?: number;
  /** Absent unless this registration repeats a failed one. */
  readonly repeats?: RegistrationRepeats;
}
