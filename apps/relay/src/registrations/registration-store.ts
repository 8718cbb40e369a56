import type { RelayDeviceId } from '@waxwing/protocol';
import type { SealedRegistrationMark } from './registration-binding.js';
import type { NewRelayDevice } from './relay-device.js';

/** A registration ready to be kept, and the key that opened it. */
export interface OpenedRegistration {
  readonly device: NewRelayDevice;
  readonly bouncerPublicKey: string;
  /** `undefined` for one that names its audience: it could count for no other realm. */
  readonly mark: SealedRegistrationMark | undefined;
  /** `undefined` for one without a sequence, as stock clients make them. */
  readonly sequence?: number | undefined;
}

/**
 * Why a registration is not kept: its sealed bytes were presented for another realm, or too many push accounts, before,
 * or the phone has registered the account with a later sequence since.
 */
export type RegistrationRefusal = 'presented-before' | 'superseded';

/** Where registrations are kept. */
export interface RegistrationStore {
  /**
   * Keeps all of them, or none, and resolves with their device ids in the same order once they are durable; with the
   * refusal in the place of one that must not be kept. A repeat (same realm, push account and token) keeps its id, takes
   * the new values and lives again if it had expired.
   */
  saveAll(
    registrations: readonly OpenedRegistration[],
    now: number,
  ): Promise<readonly (RelayDeviceId | RegistrationRefusal)[]>;
}
