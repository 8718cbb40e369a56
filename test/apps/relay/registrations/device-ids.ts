import type { RelayDeviceId } from '@waxwing/protocol';
import type { RegistrationOutcome } from '#relay/registrations/opening/registration-batches.js';

/** Returns the device ids. All registrations must have been stored. */
export function deviceIds(outcomes: readonly RegistrationOutcome[]): RelayDeviceId[] {
  return outcomes.map((outcome) => {
    if (typeof outcome === 'number') return outcome;
    throw new Error(`A registration was refused as ${outcome}.`);
  });
}
