import {
  registerBodyLimitBytes,
  relayRevokeAnswer,
  relayRevokePath,
  revocationParameters,
} from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { ServerDirectory } from '../../servers/server-directory.js';
import type { ServerQuotas } from '../../servers/server-quotas.js';
import { type OpeningOptions, openRevocation } from '../opening/open-revocation.js';
import type { Revocations } from '../store/revocations.js';
import { serverOrPhone } from './revoking-actor.js';

interface Context extends OpeningOptions {
  readonly clock: Clock;
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take'>;
  /** Quotas keyed by address. */
  readonly revocationQuotas: Pick<ServerQuotas, 'take'>;
  readonly revocations: Pick<Revocations, 'revoke'>;
}

/** Revocations per minute that phones may send from one address without credentials. */
export const revocationsPerMinuteAndAddress = 60;

/**
 * Deletes a phone's registrations according to a sealed revocation. A phone sends it without credentials, or a server
 * forwards it with the server's credentials. The response and the work are the same whether or not matching
 * registrations exist. Afterward, the relay treats the devices as unknown. Idempotent and safe to replay: a revocation
 * does not end registrations that are dated later. An extension (docs/protocol.md#sealed-revocation).
 *
 * Errors, checked in this order: UNAUTHORIZED for wrong credentials; RATE_LIMIT_HIT with HTTP 503 if the quota of the
 * server or address is used up; REQUEST_VARIABLE_MISSING; INVALID_BOUNCER_PUBLIC_KEY; BAD_REQUEST for a revocation that
 * cannot be decrypted.
 */
export const revokeRegistrations = operation({
  method: 'POST',
  path: relayRevokePath,
  summary: "Deletes a phone's registrations, authorized by a sealed revocation.",
  actor: serverOrPhone,
  parameters: revocationParameters,
  bodyLimitBytes: registerBodyLimitBytes,
  answer: relayRevokeAnswer,
  codes: ['RATE_LIMIT_HIT', 'INVALID_BOUNCER_PUBLIC_KEY'],
  charge({ quotas, revocationQuotas }: Context, actor) {
    if ('serverId' in actor) quotas.take(actor.serverId, 1);
    else revocationQuotas.take(actor.address, 1);
  },
  async handle({ clock, sodium, keyRing, revocations }: Context, { parameters }) {
    const revocation = await openRevocation({ sodium, keyRing }, parameters);
    await revocations.revoke(revocation, clock());
    return {};
  },
});
