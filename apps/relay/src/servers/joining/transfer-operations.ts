import {
  hostVerificationPath,
  isJsonObject,
  parseJsonOrUndefined,
  refused,
  serverTransferPath,
  serverVerifyPath,
} from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { anyone, operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { z } from 'zod';
import type { RelayDatabase } from '../../tables.js';
import type { ServerDirectory } from '../server-directory.js';
import { type HostAnswer, maximumAnswerBytes } from './ask-host.js';
import { createChallenge, findServerOfHost, transferServer, unknownHost } from './host-challenges.js';
import { maximumHostnameCharacters, readHostname } from './hostname.js';
import { type Joining, joiningBodyLimitBytes } from './joining.js';

interface Context {
  readonly clock: Clock;
  readonly log: Log;
  readonly database: RelayDatabase;
  readonly servers: Pick<ServerDirectory, 'forget'>;
  readonly joining: Joining;
}

const hostname = z.string().min(1, 'must not be empty').max(maximumHostnameCharacters);
const codes = ['RATE_LIMIT_HIT', 'BAD_REQUEST', 'UNAUTHORIZED'] as const;

/**
 * `POST /api/v1/remotes/server/register/transfer` (docs/protocol.md#remotesserverregistertransfer): a server that lost
 * its credentials requests a secret, which its host then publishes for the relay.
 *
 * Errors, checked in this order: REQUEST_VARIABLE_MISSING and BAD_REQUEST for missing or invalid parameters;
 * RATE_LIMIT_HIT with HTTP 503; BAD_REQUEST for an invalid or unregistered hostname; UNAUTHORIZED for a deactivated
 * server.
 */
export const startTransfer = operation({
  method: 'POST',
  path: serverTransferPath,
  summary: 'Returns a secret that a host publishes to prove that a registered server runs on it.',
  actor: anyone,
  parameters: z.object({ hostname }),
  bodyLimitBytes: joiningBodyLimitBytes,
  answer: z.object({ verification_secret: z.string() }),
  codes,
  handle({ clock, database, joining }: Context, { head, parameters }) {
    return joining.run({
      address: head.address,
      outcomeOf: () => 'challenged',
      async work() {
        const host = readHostname(parameters.hostname);
        await findServerOfHost(database, host, refused(`${parameters.hostname} not yet registered`));
        const secret = await createChallenge(database, host, clock());
        return { verification_secret: secret.reveal() };
      },
    });
  },
});

/**
 * `POST /api/v1/remotes/server/register/verify_challenge` (docs/protocol.md#remotesserverregistertransfer): fetches the
 * secret from the host, and gives the server a new key.
 *
 * Errors, checked in this order: those of `startTransfer`; SERVICE_UNAVAILABLE while ten requests to hosts are in
 * flight; BAD_REQUEST for a host that cannot be reached or has no public address, an invalid response, and a wrong
 * secret.
 */
export const verifyChallenge = operation({
  method: 'POST',
  path: serverVerifyPath,
  summary: "Fetches the secret from a host and returns the server's id and new key.",
  actor: anyone,
  parameters: z.object({
    hostname,
    // Only these characters, because the token becomes part of the URL path that the relay requests from the host.
    access_token: z
      .string()
      .regex(/^[\w-]{1,128}$/, 'must be at most 128 letters, digits, hyphens and underscores'),
  }),
  bodyLimitBytes: joiningBodyLimitBytes,
  answer: z.object({ zulip_org_id: z.string(), zulip_org_key: z.string() }),
  codes,
  waitsForOthers: true,
  handle({ clock, database, joining, log, servers }: Context, { head, parameters }) {
    return joining.run({
      address: head.address,
      outcomeOf: () => 'transferred',
      async work() {
        const host = readHostname(parameters.hostname);
        const serverId = await findServerOfHost(database, host, unknownHost());
        const path = `${hostVerificationPath}/${parameters.access_token}/`;
        const secret = readSecret(await joining.askHost(host, path));
        const { serverKey } = await transferServer(database, { serverId, hostname: host, secret }, clock());
        servers.forget(serverId);
        head.setActor(serverId);
        log.info(
          { serverId, hostname: host },
          'a server was transferred to its host: its previous keys are no longer valid',
        );
        return { zulip_org_id: serverId, zulip_org_key: serverKey.reveal() };
      },
    });
  },
});

/** @throws ProtocolError BAD_REQUEST */
function readSecret({ status, text }: HostAnswer): Secret<string> {
  const body = text === undefined ? undefined : parseJsonOrUndefined(text);
  const fields = isJsonObject(body) ? body : undefined;
  if (status === 400 && fields?.code === 'REMOTE_SERVER_VERIFICATION_SECRET_NOT_PREPARED') {
    throw refused('The host reported it has no verification secret.');
  }
  if (status !== 200) throw refused(`Error response received from the host: ${status}`);
  const secret = fields?.verification_secret;
  if (typeof secret === 'string') return new Secret(secret);
  throw refused(
    `The host's answer is not a JSON object with a verification_secret in at most ${maximumAnswerBytes} bytes.`,
  );
}
