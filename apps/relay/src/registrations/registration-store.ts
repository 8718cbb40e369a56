import type { SealedRegistrationMark } from './registration-binding.js';
import type { NewRelayDevice } from './relay-device.js';

/** A registration ready to be kept, and the key that opened it. */
export interface OpenedRegistration {
  readonly device: NewRelayDevice;
  readonly bouncerPublicKey: string;
  /** `undefined` for one that names its audience: it could count for no other realm. */
  readonly mark: SealedRegistrationMark | undefined;
}

/** Where registrations are kept. */
export interface RegistrationStore {
  /**
   * Keeps all of them, or none, and resolves with their device ids in the same order once they are durable; `undefined`
   * in the place of one whose sealed bytes were presented for another realm, or too many push accounts, before, which is
   * not kept. A repeat (same realm, push account and token) keeps its id, takes the new values and lives again if it had
   * expired.
   */
  saveAll(
    registrations: readonly OpenedRegistration[],
    now: number,
  ): Promise<readonly (number | undefined)[]>;
}
