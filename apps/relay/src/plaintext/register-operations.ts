import { refused, uuid } from '@waxwing/protocol';
import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import { server } from '../servers/authenticate-server.js';
import { findRealm } from '../servers/find-realm.js';
import type { ServerDirectory } from '../servers/server-directory.js';
import { costOfBody, type ServerQuotas } from '../servers/server-quotas.js';
import { findOwnRealm } from './own-realm.js';
import type { PlaintextDevices } from './plaintext-devices.js';
import { readIosAppId, readPlaintextToken, readPlaintextUser } from './read-plaintext.js';

interface Context {
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take'>;
  readonly plaintextDevices: PlaintextDevices;
  readonly clock: Clock;
}

const user = { user_id: integerParameter.optional(), user_uuid: uuid.optional() };
const token = { ...user, token: z.string(), token_kind: integerParameter, realm_uuid: uuid.optional() };
const charge = ({ quotas }: Context, { serverId }: { serverId: string }) => quotas.take(serverId, costOfBody);

/**
 * `POST /api/v1/remotes/push/register` (docs/protocol.md#unsealed-tokens): stores an unsealed token, if
 * `RELAY_PLAINTEXT_DEVICES` is on. Idempotent.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; BAD_REQUEST for invalid parameters, or
 * while the setting is off; MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR.
 */
export const registerPlaintext = operation({
  method: 'POST',
  path: '/api/v1/remotes/push/register',
  summary: 'Stores an unsealed token, if the operator allows it.',
  actor: server,
  parameters: z.object({ ...token, ios_app_id: z.string().optional() }),
  answer: noAnswer,
  codes: ['RATE_LIMIT_HIT', 'BAD_REQUEST', 'MISSING_REMOTE_REALM', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  charge,
  async handle({ clock, plaintextDevices, servers }: Context, { actor: { serverId }, parameters }) {
    if (!plaintextDevices.isOn) {
      throw refused('This relay accepts only sealed push registrations: update the app.');
    }
    const token = readPlaintextToken(parameters);
    const iosAppId = readIosAppId(token, parameters.ios_app_id);
    const user = readPlaintextUser(parameters);
    const { realm_uuid: realmUuid } = parameters;
    if (realmUuid === undefined) throw refused('Missing realm_uuid: update the server.');
    const realm = await findRealm(servers, serverId, realmUuid);
    await plaintextDevices.register({ realm, user, token, iosAppId, now: clock() });
    return {};
  },
});

/**
 * `POST /api/v1/remotes/push/unregister`: removes a token.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; BAD_REQUEST for invalid parameters;
 * REMOTE_REALM_SERVER_MISMATCH_ERROR; BAD_REQUEST if the token is not stored.
 */
export const unregisterPlaintext = operation({
  method: 'POST',
  path: '/api/v1/remotes/push/unregister',
  summary: 'Deletes an unsealed token.',
  actor: server,
  parameters: z.object(token),
  answer: noAnswer,
  codes: ['RATE_LIMIT_HIT', 'BAD_REQUEST', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  charge,
  async handle({ plaintextDevices, servers }: Context, { actor: { serverId }, parameters }) {
    const token = readPlaintextToken(parameters);
    const user = readPlaintextUser(parameters);
    await findOwnRealm(servers, serverId, parameters.realm_uuid);
    const isRemoved = await plaintextDevices.remove(serverId, user, token);
    if (!isRemoved) throw refused('Token does not exist');
    return {};
  },
});

/** `POST /api/v1/remotes/push/unregister/all`: removes all of a user's tokens. Idempotent. */
export const unregisterAllPlaintext = operation({
  method: 'POST',
  path: '/api/v1/remotes/push/unregister/all',
  summary: 'Deletes all unsealed tokens of a user.',
  actor: server,
  parameters: z.object({ ...user, realm_uuid: uuid.optional() }),
  answer: noAnswer,
  codes: ['RATE_LIMIT_HIT', 'BAD_REQUEST', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  charge,
  async handle({ plaintextDevices, servers }: Context, { actor: { serverId }, parameters }) {
    const user = readPlaintextUser(parameters);
    await findOwnRealm(servers, serverId, parameters.realm_uuid);
    await plaintextDevices.remove(serverId, user);
    return {};
  },
});
