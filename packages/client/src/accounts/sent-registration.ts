import type { PushToken } from '../build-registration.js';

/** The last registration that the server accepted. */
export interface SentRegistration {
  readonly pushToken: PushToken;
  readonly bouncerPublicKey: string;
  /** Unix seconds by the time that the phone followed. */
  readonly timestamp: number;
  /** Sequence of the key list for which it was sent again after the relay had refused a key. */
  readonly repeatedForSequence?: number;
}
