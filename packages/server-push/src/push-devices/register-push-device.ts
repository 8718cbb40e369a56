import {
  maximumPushDevicesPerUser,
  ProtocolError,
  registerBodyLimitBytes,
  registerPushDeviceParameters,
  registerPushDevicePath,
} from '@waxwing/protocol';
import type { Operation } from '@waxwing/service';
import { requirePerson } from '../require-person.js';
import type { PushActor, ServerPushOptions } from '../server-push-options.js';
import { checkRegistration } from './check-registration.js';
import { enqueueForwarding } from './forward-registration.js';
import { acceptRegistration } from './push-device-store.js';
import { enqueueRemoval } from './remove-relay-devices.js';

/**
 * `POST /api/v1/mobile_push/register` (chat API section 8): accepts a sealed registration and answers at once; the
 * relay is asked afterwards and an event tells what came of it. Refuses, in this order: UNAUTHORIZED or
 * INVALID_API_KEY; a bot (BAD_REQUEST); REQUEST_VARIABLE_MISSING or BAD_REQUEST for a parameter's presence or type;
 * PUSH_SERVICE_NOT_CONFIGURED; BAD_REQUEST for what the parameters hold, or for one device too many.
 */
export function registerPushDevice(
  options: Pick<ServerPushOptions, 'authenticate' | 'clock' | 'database' | 'relay' | 'sodium'>,
): Operation<PushActor> {
  const { authenticate, clock, database, relay, sodium } = options;
  return {
    method: 'POST',
    path: registerPushDevicePath,
    bodyLimitBytes: registerBodyLimitBytes,
    authenticate: (head) => requirePerson(authenticate, head),
    async handle(request, { userId, hold }) {
      const parameters = request.parameters(registerPushDeviceParameters);
      if (relay.kind === 'not-configured') throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
      const registration = checkRegistration(parameters, sodium);
      const now = clock();
      const acceptance = await database.write(async (transaction) => {
        await hold(transaction);
        const accepted = await acceptRegistration(transaction, userId, registration, now);
        if (accepted.kind !== 'accepted') return accepted;
        await enqueueForwarding(database, transaction, accepted.key, now);
        await enqueueRemoval(database, transaction, { freed: accepted.freed, now });
        return accepted;
      });
      if (acceptance.kind === 'full') {
        const message = `This user has ${maximumPushDevicesPerUser} registered push devices, which is the most; rotating the API key removes them`;
        throw new ProtocolError('BAD_REQUEST', { message });
      }
      return {};
    },
  };
}
