import type { PushToken } from '../build-registration.js';

/** How often a registration was repeated in a row because it failed for one cause. */
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
  /** Unix seconds by the time that the phone followed. */
  readonly timestamp: number;
  /** UUID of the organization; absent if its server did not say. */
  readonly realmUuid?: string;
  /** Sequence of the key list for which it was sent again after the relay had refused a key. */
  readonly repeatedForSequence?: number;
  /** Set if it repeats a failed one. */
  readonly repeats?: RegistrationRepeats;
}
