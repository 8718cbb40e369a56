import {
  maximumPushDevicesPerUser,
  ProtocolError,
  refused,
  type registerPushDeviceParameters,
} from '@waxwing/protocol';
import type { z } from 'zod';
import type { ServerPushContext } from '../context.js';
import { rateRefusal } from '../registrations/registration-rate.js';
import type { PushActor } from '../server-push-options.js';
import { checkRegistration } from './check-registration.js';
import type { Registered } from './registration-intake.js';

type Context = Pick<ServerPushContext, 'registering' | 'relay' | 'sodium'>;

/**
 * Accepts an older-generation registration. A `push_device` event reports the relay's decision.
 *
 * @throws ProtocolError as `registerPush` describes.
 */
export async function registerPushDevice(
  { registering, relay, sodium }: Context,
  actor: PushActor,
  parameters: z.output<typeof registerPushDeviceParameters>,
): Promise<void> {
  if (relay.kind === 'not-configured') throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
  const registration = checkRegistration(parameters, sodium);
  const refusal = refusalOf(await registering.register(actor, registration));
  if (refusal !== undefined) throw refusal;
}

function refusalOf(registered: Registered): ProtocolError | undefined {
  switch (registered.kind) {
    case 'limited':
    case 'busy':
      return rateRefusal(registered);
    case 'full':
      return refused(
        `This user has ${maximumPushDevicesPerUser} registered push devices, which is the maximum; rotating the API key removes them`,
      );
    default:
      return undefined;
  }
}
