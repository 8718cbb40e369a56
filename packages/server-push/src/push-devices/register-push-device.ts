import {
  maximumPushDevicesPerUser,
  ProtocolError,
  registerBodyLimitBytes,
  registerPushDeviceParameters,
  registerPushDevicePath,
} from '@waxwing/protocol';
import type { Operation } from '@waxwing/service/http';
import { OneAtATime } from '../one-at-a-time.js';
import { rateLimitHit } from '../rate-limit-hit.js';
import { requirePerson } from '../require-person.js';
import type { PushActor, ServerPushOptions } from '../server-push-options.js';
import { type CheckedRegistration, checkRegistration } from './check-registration.js';
import { enqueueForwarding } from './forward-registration.js';
import { type Acceptance, acceptRegistration, isRegistered } from './push-device-store.js';
import {
  defaultRegistrationsPerHour,
  type TakenRegistration,
  takeRegistration,
} from './registration-rate.js';
import { enqueueRemoval } from './remove-relay-devices.js';

type RegisterPushDeviceOptions = Pick<
  ServerPushOptions,
  'authenticate' | 'clock' | 'database' | 'registrationsPerHour' | 'relay' | 'sodium'
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
export function registerPushDevice(options: RegisterPushDeviceOptions): Operation<PushActor> {
  const { authenticate, relay, sodium } = options;
  const oneAtATime = new OneAtATime();
  return {
    method: 'POST',
    path: registerPushDevicePath,
    bodyLimitBytes: registerBodyLimitBytes,
    authenticate: (head) => requirePerson(authenticate, head),
    async handle(request, actor) {
      const parameters = request.parameters(registerPushDeviceParameters);
      if (relay.kind === 'not-configured') throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
      const registration = checkRegistration(parameters, sodium);
      const refusal = refusalOf(
        await oneAtATime.run(actor.userId, () => register(options, actor, registration)),
      );
      if (refusal !== undefined) throw refusal;
      return {};
    },
  };
}

type Registered = Acceptance | Exclude<TakenRegistration, { kind: 'taken' }>;

async function register(
  options: RegisterPushDeviceOptions,
  actor: PushActor,
  registration: CheckedRegistration,
): Promise<Registered> {
  let registered = await tryToRegister(options, actor, registration);
  for (let tries = 1; registered.kind === 'busy' && tries < mostTries; tries++) {
    registered = await tryToRegister(options, actor, registration);
  }
  return registered;
}

/** Nothing is thrown for a limit: the writes of others share the transaction, and would be done again. */
function tryToRegister(
  { clock, database, registrationsPerHour = defaultRegistrationsPerHour }: RegisterPushDeviceOptions,
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
      return new ProtocolError('BAD_REQUEST', {
        message: `This user has ${maximumPushDevicesPerUser} registered push devices, which is the most; rotating the API key removes them`,
      });
    default:
      return undefined;
  }
}
