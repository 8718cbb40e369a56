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
import type { PushActor } from '../server-push-options.js';
import { type Acceptance, acceptRegistration, isRegistered } from './accept-registration.js';
import { type CheckedRegistration, checkRegistration } from './check-registration.js';
import { enqueueForwarding } from './forward-registration.js';
import {
  defaultRegistrationsPerHour,
  type TakenRegistration,
  takeRegistration,
} from './registration-rate.js';
import { enqueueRemoval } from './remove-relay-devices.js';

type Context = Pick<
  ServerPushContext,
  'authenticate' | 'clock' | 'database' | 'registering' | 'registrationsPerHour' | 'relay' | 'sodium'
>;

/** How often a registration is tried while other processes register devices of the same user. */
const mostTries = 4;

/**
 * `POST /api/v1/mobile_push/register` (chat API section 8): accepts a sealed registration and answers at once; the
 * relay is asked afterwards and an event tells what came of it. Refuses, in this order: UNAUTHORIZED or
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
    const registered = await context.registering.run(actor.userId, () =>
      register(context, actor, registration),
    );
    const refusal = refusalOf(registered);
    if (refusal !== undefined) throw refusal;
    return {};
  },
});

type Registered = Acceptance | Exclude<TakenRegistration, { kind: 'taken' }>;

async function register(
  context: Context,
  actor: PushActor,
  registration: CheckedRegistration,
): Promise<Registered> {
  let registered = await tryToRegister(context, actor, registration);
  for (let tries = 1; registered.kind === 'busy' && tries < mostTries; tries++) {
    registered = await tryToRegister(context, actor, registration);
  }
  return registered;
}

/** Nothing is thrown for a limit: the writes of others share the transaction, and would be done again. */
function tryToRegister(
  { clock, database, registrationsPerHour = defaultRegistrationsPerHour }: Context,
  { userId, hold }: PushActor,
  registration: CheckedRegistration,
): Promise<Registered> {
  const now = clock();
  return database.write(async (transaction) => {
    await hold(transaction);
    if (await isRegistered(transaction, userId, registration)) return { kind: 'unchanged' };
    const taken = await takeRegistration(transaction, userId, registrationsPerHour, now);
    if (taken.kind !== 'taken') return taken;
    const accepted = await acceptRegistration(transaction, userId, registration, now);
    if (accepted.kind !== 'accepted') return accepted;
    await enqueueForwarding(database, transaction, accepted, now);
    await enqueueRemoval(database, transaction, { freed: accepted.freed, now });
    return accepted;
  });
}

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
