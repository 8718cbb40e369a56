import {
  missingArgument,
  registerBodyLimitBytes,
  registerClientPushParameters,
  registerPushAnyParameters,
  registerPushDeviceParameters,
  registerPushDevicePath,
} from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import type { z } from 'zod';
import { registerClientPush } from './client-devices/register-client-push.js';
import type { ServerPushContext } from './context.js';
import { person } from './person.js';
import { registerPushDevice } from './push-devices/register-push-device.js';

type Context = Pick<
  ServerPushContext,
  'authenticate' | 'changing' | 'database' | 'registering' | 'relay' | 'sodium'
>;
type Parameters = z.output<typeof registerPushAnyParameters>;

/**
 * `POST /api/v1/mobile_push/register` (docs/protocol.md#mobile_pushregister): accepts a key or a sealed registration
 * and responds immediately. A job forwards a registration to the relay, and an event reports the outcome. Refuses, in
 * this order:
 *
 * - UNAUTHORIZED or INVALID_API_KEY; BAD_REQUEST for a bot
 * - REQUEST_VARIABLE_MISSING or BAD_REQUEST for a missing parameter or a wrong type
 * - PUSH_SERVICE_NOT_CONFIGURED if there is no relay
 * - BAD_REQUEST for an invalid device or parameter value
 * - RATE_LIMIT_HIT above the user's hourly limit; a repeat of a stored registration does not count
 * - BAD_REQUEST above the maximum number of devices of the older generation
 */
export const registerPush = operation({
  method: 'POST',
  path: registerPushDevicePath,
  summary: "Accepts a phone's push key or sealed push registration, and forwards it to the relay.",
  actor: person,
  parameters: registerPushAnyParameters,
  bodyLimitBytes: registerBodyLimitBytes,
  answer: noAnswer,
  codes: ['REQUEST_VARIABLE_MISSING', 'PUSH_SERVICE_NOT_CONFIGURED', 'RATE_LIMIT_HIT'],
  async handle(context: Context, { actor, parameters }) {
    if (isOfOlderGeneration(parameters)) {
      await registerPushDevice(context, actor, requireAll(registerPushDeviceParameters, parameters));
    } else {
      await registerClientPush(context, actor, requireAll(registerClientPushParameters, parameters));
    }
    return {};
  },
});

/**
 * Whether this is an older-generation request: only such a request has an account or a public key. If fields of both
 * generations are present, `device_id` decides.
 */
function isOfOlderGeneration(parameters: Parameters): boolean {
  const { device_id: deviceId, push_account_id: accountId, push_public_key: publicKey } = parameters;
  return deviceId === undefined && (accountId !== undefined || publicKey !== undefined);
}

/**
 * Parses the parameters of one generation. @throws ProtocolError REQUEST_VARIABLE_MISSING for the first missing
 * parameter.
 */
function requireAll<Schema extends z.ZodObject>(schema: Schema, parameters: Parameters): z.output<Schema> {
  const parsed = schema.safeParse(parameters);
  if (parsed.success) return parsed.data;
  throw missingArgument(String(parsed.error.issues[0]?.path[0]));
}
