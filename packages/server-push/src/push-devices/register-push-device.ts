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
 * `POST /api/v1/mobile_push/register` (docs/protocol.md#mobile_pushregister): accepts a sealed registration and answers
 * at once. A job forwards it to the relay, and an event has the result. Refuses, in this order: UNAUTHORIZED or
 * INVALID_API_KEY; a bot (BAD_REQUEST); REQUEST_VARIABLE_MISSING or BAD_REQUEST for a parameter's presence or type;
 * PUSH_SERVICE_NOT_CONFIGURED; BAD_REQUEST for what the parameters hold; RATE_LIMIT_HIT for one more than the user is
 * allowed in an hour, of which a repeat of what is registered already is none; BAD_REQUEST for one device too many.
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
