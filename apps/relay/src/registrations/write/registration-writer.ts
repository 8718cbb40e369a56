import type { SealedRegistrationMark } from '../opening/open-registration.js';
import type { RegistrationOutcome } from '../opening/registration-batches.js';
import type { RelayDeviceRow } from './relay-device-upsert.js';

/** A registration as it is written: plain values, so that another thread can do it, and nothing that tells a token. */
export interface RegistrationToWrite {
  readonly row: RelayDeviceRow;
  /** What an older row of the device may be found by. */
  readonly olderLookups: readonly string[];
  readonly bouncerPublicKey: string;
  readonly mark: SealedRegistrationMark | undefined;
  readonly sequence: number | undefined;
}

/** Who writes registrations into the relay's database. */
export interface RegistrationWriter {
  /** Whether it would begin at once, beside the event loop. */
  readonly isIdle: boolean;
  /**
   * Commits all of them, or none, at `now` (Unix milliseconds), and resolves with what became of each, in their order.
   * @throws DatabaseUnavailableError when the database does not answer.
   */
  write(registrations: readonly RegistrationToWrite[], now: number): Promise<readonly RegistrationOutcome[]>;
}
