import { serverRegisterPath } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { anyone, booleanParameter, operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import type { RelayDatabase } from '../../tables.js';
import type { ServerDirectory } from '../server-directory.js';
import { maximumEmailCharacters, requireContactEmail } from './contact-email.js';
import { maximumHostnameCharacters, readHostname } from './hostname.js';
import { joinServer, requireServerId } from './join-server.js';
import { type Joining, joiningBodyLimitBytes } from './joining.js';

interface Context {
  readonly clock: Clock;
  readonly database: RelayDatabase;
  readonly servers: Pick<ServerDirectory, 'forget'>;
  readonly joining: Joining;
}

const serverKey = z
  .string()
  .regex(/^[0-9A-Za-z]{64}$/, 'must be 64 letters and digits')
  .transform((text) => new Secret(text));

/**
 * `POST /api/v1/remotes/server/register` (docs/protocol.md#remotesserverregister): a server joins, changes its hostname
 * or contact address, rotates its key, or returns after it deactivated itself. Idempotent: a server that did not
 * receive the response can repeat the request.
 *
 * Errors, checked in this order: REQUEST_VARIABLE_MISSING and BAD_REQUEST for missing or invalid parameters;
 * RATE_LIMIT_HIT with HTTP 503; BAD_REQUEST for an invalid hostname, contact or id; INVALID_ZULIP_SERVER for a wrong
 * key; UNAUTHORIZED for a suspended server, and for a deactivated server without `reactivate`;
 * HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR; BAD_REQUEST without an invitation.
 */
export const registerServer = operation({
  method: 'POST',
  path: serverRegisterPath,
  summary: 'Registers a server, or updates its hostname, contact address or key.',
  actor: anyone,
  parameters: z.object({
    zulip_org_id: z.string().length(36, 'must have 36 characters'),
    zulip_org_key: serverKey,
    hostname: z.string().min(1, 'must not be empty').max(maximumHostnameCharacters),
    contact_email: z.string().max(maximumEmailCharacters),
    new_org_key: serverKey.optional(),
    invitation: z
      .string()
      .max(200)
      .transform((text) => new Secret(text))
      .optional(),
    reactivate: booleanParameter.optional(),
  }),
  bodyLimitBytes: joiningBodyLimitBytes,
  answer: z.object({ created: z.boolean() }),
  codes: [
    'RATE_LIMIT_HIT',
    'BAD_REQUEST',
    'INVALID_ZULIP_SERVER',
    'UNAUTHORIZED',
    'HOSTNAME_ALREADY_IN_USE_BOUNCER_ERROR',
  ],
  handle({ clock, database, joining, servers }: Context, { head, parameters }) {
    return joining.run({
      address: head.address,
      outcomeOf: ({ created }) => (created ? 'created' : 'updated'),
      async work() {
        const { zulip_org_id: serverId, zulip_org_key: key, contact_email: contactEmail } = parameters;
        const hostname = readHostname(parameters.hostname);
        requireContactEmail(contactEmail);
        requireServerId(serverId);
        const { new_org_key: newKey, invitation, reactivate: returns = false } = parameters;
        const request = { serverId, key, newKey, hostname, contactEmail, invitation, returns };
        const created = await joinServer(database, { ...request, mode: joining.registration }, clock());
        if (returns) servers.forget(serverId);
        head.setActor(serverId);
        return { created };
      },
    });
  },
});
