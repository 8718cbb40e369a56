import {
  ProtocolError,
  type RelayRegisterAnyResult,
  registerManyBodyLimitBytes,
  type relayRegisterAnyAnswer,
  relayRegisterManyAnyAnswer,
  relayRegisterManyParameters,
  relayRegisterManyPath,
} from '@waxwing/protocol';
import { operation, toProtocolError } from '@waxwing/service/http';
import type { Log } from '@waxwing/service/logging';
import type { z } from 'zod';
import { server } from '../../servers/authenticate-server.js';
import { findRealm } from '../../servers/find-realm.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import { costOfBody, type ServerQuotas } from '../../servers/server-quotas.js';
import type { RegistrationBatches } from '../opening/registration-batches.js';
import { readAddressee, registerForwarded } from './forwarded-registration.js';

type Answer = z.output<typeof relayRegisterAnyAnswer>;

interface Context {
  readonly servers: ServerDirectory;
  readonly registrations: RegistrationBatches;
  readonly quotas: Pick<ServerQuotas, 'take' | 'takeAll'>;
  readonly log: Log;
}

/**
 * Batch version of `registerDevice`: up to a hundred sealed registrations for one realm, of either generation. Each
 * item gets the result that `registerDevice` would return. A refused or failed item does not affect other items. All
 * stored items are durable before the relay responds. Idempotent: the whole request may be retried. An extension
 * (docs/protocol.md#remotespushe2eeregister_many).
 *
 * Errors for the whole request, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503 if the server's quota
 * is used up; BAD_REQUEST for an invalid body, which costs one unit of the quota; RATE_LIMIT_HIT if the quota does not
 * cover all items; MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR.
 */
export const registerDevices = operation({
  method: 'POST',
  path: relayRegisterManyPath,
  summary: 'Registers devices of one realm and returns a result for each registration.',
  actor: server,
  body: 'json',
  parameters: relayRegisterManyParameters,
  bodyLimitBytes: registerManyBodyLimitBytes,
  answer: relayRegisterManyAnyAnswer,
  codes: ['RATE_LIMIT_HIT', 'MISSING_REMOTE_REALM', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  charge: ({ quotas }: Context, { serverId }) => quotas.take(serverId, costOfBody),
  async handle({ log, quotas, registrations, servers }: Context, request) {
    const { serverId } = request.actor;
    const { parameters } = request;
    const { realm_uuid: realmUuid, registrations: items } = parameters;
    quotas.takeAll(serverId, items.length);
    const { realmId } = await findRealm(servers, serverId, realmUuid);
    // Opening a hundred registrations takes several milliseconds, so it starts in a new tick.
    await request.nextTick({ isRefusable: false });
    const scope = { realmId, realmUuid };
    const outcomes = await Promise.allSettled(
      items.map((item) => registerForwarded(registrations, readAddressee(item), item, scope)),
    );
    return { results: formatResults(outcomes, log) };
  },
});

/**
 * Formats one result per item. Throws if every item failed for internal reasons, or if no item was stored and the
 * database is unavailable: only an error for the whole request can say when to retry.
 */
function formatResults(
  outcomes: readonly PromiseSettledResult<Answer>[],
  log: Log,
): RelayRegisterAnyResult[] {
  const failures = reasonsOf(outcomes).filter((reason) => !(reason instanceof ProtocolError));
  const isNoneKept = outcomes.every(({ status }) => status === 'rejected');
  const outage = failures.find((reason) => toProtocolError(reason).code === 'SERVICE_UNAVAILABLE');
  if (isNoneKept && outage !== undefined) throw outage;
  if (failures.length === outcomes.length) throw failures[0];
  if (failures.length > 0) {
    log.error({ err: failures[0], count: failures.length }, 'registrations could not be stored');
  }
  return outcomes.map((outcome) => {
    if (outcome.status === 'fulfilled') return { result: 'success', ...outcome.value };
    const { code, message } = toProtocolError(outcome.reason);
    return { result: 'error', code, msg: message };
  });
}

function reasonsOf(outcomes: readonly PromiseSettledResult<Answer>[]): unknown[] {
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
}
