import {
  decodePublicKey,
  maximumEncryptedPushRegistrationCharacters,
  ProtocolError,
  refused,
  registerBodyLimitBytes,
  revocationParameters,
  revokePushPath,
} from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import type { ServerPushContext } from '../context.js';
import { person } from '../person.js';
import {
  defaultRegistrationsPerHour,
  rateOf,
  rateRefusal,
  takeRegistrations,
} from '../registrations/registration-rate.js';
import { enqueueRevocation } from './forward-revocation.js';

type Context = Pick<
  ServerPushContext,
  'authenticate' | 'clock' | 'database' | 'registrationsPerHour' | 'relay'
>;

const rate = rateOf({ user_id: 'integer', lock: 'text' });

/**
 * `POST /api/v1/mobile_push/revoke`, an extension (docs/protocol.md#sealed-revocation): accepts a phone's sealed
 * revocation. The same transaction enqueues a job that forwards it to the relay. The server cannot decrypt the
 * revocation, and deletes none of its own rows.
 *
 * Refuses with UNAUTHORIZED, INVALID_API_KEY or REQUEST_VARIABLE_MISSING; with PUSH_SERVICE_NOT_CONFIGURED; with
 * BAD_REQUEST for a bot, an invalid key, or a revocation that is too long; with RATE_LIMIT_HIT above the user's hourly
 * limit of registrations.
 */
export const revokePush = operation({
  method: 'POST',
  path: revokePushPath,
  summary: "Accepts a phone's sealed revocation, and forwards it to the relay.",
  actor: person,
  parameters: revocationParameters,
  bodyLimitBytes: registerBodyLimitBytes,
  answer: noAnswer,
  codes: ['BAD_REQUEST', 'PUSH_SERVICE_NOT_CONFIGURED', 'RATE_LIMIT_HIT'],
  async handle({ clock, database, relay, ...options }: Context, { actor, parameters }) {
    if (relay.kind === 'not-configured') throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
    const { bouncer_public_key: key, encrypted_push_revocation: sealed } = parameters;
    if (decodePublicKey(key) === undefined) throw refused('Invalid bouncer_public_key');
    if (sealed === '' || sealed.length > maximumEncryptedPushRegistrationCharacters)
      throw refused('Invalid encrypted_push_revocation');
    const { registrationsPerHour: perHour = defaultRegistrationsPerHour } = options;
    const now = clock();
    await database.write(async (transaction) => {
      await actor.lockUser(transaction);
      const rows = [{ user_id: actor.userId }];
      const [taken] = await takeRegistrations(transaction, { rate, rows, perHour, now });
      if (taken !== undefined && taken.kind !== 'taken') throw rateRefusal(taken);
      await enqueueRevocation(database, transaction, parameters, now);
    });
    return {};
  },
});
