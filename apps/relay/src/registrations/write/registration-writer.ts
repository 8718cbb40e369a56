import type { SealedRegistrationMark } from '../opening/open-registration.js';
import type { RegistrationOutcome } from '../opening/registration-batches.js';
import type { RelayDeviceRow } from './relay-device-upsert.js';

/** A registration to write, as plain values that can be sent to a worker thread. The token is already encrypted. */
export interface RegistrationToWrite {
  readonly row: RelayDeviceRow;
  /** Lookups that an older row of the device may have. */
  readonly olderLookups: readonly string[];
  readonly bouncerPublicKey: string;
  readonly mark: SealedRegistrationMark | undefined;
  readonly sequence: number | undefined;
}

/** Writes registrations into the relay's database. */
export interface RegistrationWriter {
  /** Whether a write would start immediately, without blocking the event loop. */
  readonly isIdle: boolean;
  /**
   * Commits all registrations or none at `now` (Unix milliseconds), and resolves with their outcomes in order.
   * @throws DatabaseUnavailableError if the database does not answer.
   */
  write(registrations: readonly RegistrationToWrite[], now: number): Promise<readonly RegistrationOutcome[]>;
}
