import {
  ProtocolError,
  type RelayDeviceId,
  type RelayRegisterResult,
  registerManyBodyLimitBytes,
  relayRegisterManyAnswer,
  relayRegisterManyParameters,
  relayRegisterManyPath,
} from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import { server } from '../servers/authenticate-server.js';
import { findRealm } from '../servers/find-realm.js';
import type { ServerDirectory } from '../servers/server-directory.js';
import type { ServerQuotas } from '../servers/server-quotas.js';
import type { RegistrationBatches } from './registration-batches.js';

interface Context {
  readonly servers: ServerDirectory;
  readonly registrations: RegistrationBatches;
  readonly quotas: Pick<ServerQuotas, 'take' | 'giveBack'>;
}

/** Reading a body is work, whatever it holds; it counts as its first registration. */
const costOfBody = 1;

/**
 * Takes up to a hundred sealed registrations of one realm, as `registerDevice` takes one, and answers for each by itself
 * what that would answer: one that is refused keeps no other from being kept. All that are kept are durable before it
 * answers. A repeat of the whole is harmless. An extension of the push registration protocol.
 *
 * Refuses as a whole, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503 when nothing is left of the
 * server's quota; BAD_REQUEST for the body, which costs one of the quota; RATE_LIMIT_HIT when not enough is left for all;
 * MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR.
 */
export const registerDevices = operation({
  method: 'POST',
  path: relayRegisterManyPath,
  summary: 'Takes sealed push registrations of one realm and answers for each of them.',
  actor: server,
  body: 'json',
  parameters: relayRegisterManyParameters,
  bodyLimitBytes: registerManyBodyLimitBytes,
  answer: relayRegisterManyAnswer,
  codes: ['RATE_LIMIT_HIT', 'MISSING_REMOTE_REALM', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  charge: ({ quotas }: Context, { serverId }) => quotas.take(serverId, costOfBody),
  async handle({ quotas, registrations, servers }: Context, { actor: { serverId }, parameters }) {
    const { realm_uuid: realmUuid, registrations: items } = parameters;
    try {
      quotas.take(serverId, items.length, costOfBody);
    } catch (error) {
      // Whoever is told to come back later has paid nothing.
      quotas.giveBack(serverId, costOfBody);
      throw error;
    }
    const { realmId } = await findRealm(servers, serverId, realmUuid);
    const outcomes = await Promise.allSettled(
      items.map((item) =>
        registrations.register({
          realmId,
          realmUuid,
          pushAccountId: item.push_account_id,
          encryptedPushRegistration: item.encrypted_push_registration,
          bouncerPublicKey: item.bouncer_public_key,
        }),
      ),
    );
    return { results: outcomes.map(formatResult) };
  },
});

/** What is no refusal, such as a database that does not answer, is told of the whole request, which is to be repeated. */
function formatResult(outcome: PromiseSettledResult<RelayDeviceId>): RelayRegisterResult {
  if (outcome.status === 'fulfilled') return { result: 'success', device_id: outcome.value };
  if (!(outcome.reason instanceof ProtocolError)) throw outcome.reason;
  const { code, message } = outcome.reason;
  return { result: 'error', code, msg: message };
}
