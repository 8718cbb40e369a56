import {
  maximumPushDevicesPerUser,
  ProtocolError,
  refused,
  registerBodyLimitBytes,
  registerPushDeviceParameters,
  registerPushDevicePath,
} from '@waxwing/protocol';
import { noAnswer, operation, rateLimitHit } from '@waxwing/service/http';
import type { ServerPushContext } from '../context.js';
import { person } from '../person.js';
import { checkRegistration } from './check-registration.js';
import type { Registered } from './registration-intake.js';

type Context = Pick<ServerPushContext, 'authenticate' | 'registering' | 'relay' | 'sodium'>;

/**
 * `POST /api/v1/mobile_push/register` (docs/protocol.md#mobile_pushregister): accepts a sealed registration and
 * answers at once. A job forwards it to the relay; a `push_device` event reports the outcome. Refuses, in this order:
 *
 * - UNAUTHORIZED or INVALID_API_KEY; BAD_REQUEST for a bot
 * - REQUEST_VARIABLE_MISSING or BAD_REQUEST for a missing parameter or a wrong type
 * - PUSH_SERVICE_NOT_CONFIGURED
 * - BAD_REQUEST for a parameter's contents
 * - RATE_LIMIT_HIT above the user's hourly limit; a repeat of a stored registration does not count
 * - BAD_REQUEST above the maximum number of devices
 */
export const registerPushDevice = operation({
  method: 'POST',
  path: registerPushDevicePath,
  summary: "Accepts a phone's sealed push registration, to be forwarded to the relay.",
  actor: person,
  parameters: registerPushDeviceParameters,
  bodyLimitBytes: registerBodyLimitBytes,
  answer: noAnswer,
  codes: ['PUSH_SERVICE_NOT_CONFIGURED', 'RATE_LIMIT_HIT'],
  async handle(context: Context, { actor, parameters }) {
    if (context.relay.kind === 'not-configured') throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
    const registration = checkRegistration(parameters, context.sodium);
    const refusal = refusalOf(await context.registering.register(actor, registration));
    if (refusal !== undefined) throw refusal;
    return {};
  },
});

function refusalOf(registered: Registered): ProtocolError | undefined {
  switch (registered.kind) {
    case 'limited':
      return rateLimitHit('registration', registered.waitSeconds);
    case 'busy':
      return rateLimitHit('registration', 1);
    case 'full':
      return refused(
        `This user has ${maximumPushDevicesPerUser} registered push devices, which is the most; rotating the API key removes them`,
      );
    default:
      return undefined;
  }
}
