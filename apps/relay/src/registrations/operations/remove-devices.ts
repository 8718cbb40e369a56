import {
  type EndedKey,
  formatPushAccountId,
  missingArgument,
  type PushKeyId,
  refused,
  relayRemoveAnswer,
  relayRemoveParameters,
  relayRemovePath,
  type TokenId,
} from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import type { Clock } from '@waxwing/service/lifecycle';
import type { z } from 'zod';
import { server } from '../../servers/authenticate-server.js';
import { findRealm } from '../../servers/find-realm.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import { costOfBody, type ServerQuotas } from '../../servers/server-quotas.js';
import type { RelayDatabase } from '../../tables.js';
import { addresseeOfToken } from '../store/addressee.js';
import { endKeys } from '../store/ended-keys.js';
import { deleteRelayDevices } from '../store/relay-device-store.js';

type RemoveParameters = z.output<typeof relayRemoveParameters>;

interface Context {
  readonly servers: ServerDirectory;
  readonly database: RelayDatabase;
  readonly quotas: Pick<ServerQuotas, 'take' | 'takeAll'>;
  readonly clock: Clock;
}

/**
 * Deletes devices of one realm and their tokens, after their users signed out or registered again. With
 * `push_account_ids`, deletes only devices that belong to these accounts: after a restore, an id may belong to another
 * account. `token_ids` names devices of the newer generation. Users of one phone share such a device, so the server
 * names it only when none of them uses the device anymore. `ended_keys` names keys of users who no longer use a shared
 * device. The relay rejects notifications for these keys that are queued or arrive within a minute. Idempotent: ids
 * that are unknown, deleted, or of another realm or account also succeed. Each id and key costs as much of the server's
 * quota as a notification. An extension (docs/protocol.md#remotespushe2eeremove).
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503 if the server's quota is used up;
 * REQUEST_VARIABLE_MISSING and BAD_REQUEST for missing or invalid parameters, which cost one unit of the quota;
 * RATE_LIMIT_HIT if the quota does not cover all items; MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR.
 */
export const removeDevices = operation({
  method: 'POST',
  path: relayRemovePath,
  summary: 'Deletes devices of one realm and their tokens.',
  actor: server,
  parameters: relayRemoveParameters,
  answer: relayRemoveAnswer,
  codes: ['RATE_LIMIT_HIT', 'MISSING_REMOTE_REALM', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  charge: ({ quotas }: Context, { serverId }) => quotas.take(serverId, costOfBody),
  async handle({ clock, database, quotas, servers }: Context, { actor: { serverId }, parameters }) {
    const { realm_uuid: realmUuid, device_ids: ids = [], token_ids: tokenIds = [] } = parameters;
    const endedKeys = (parameters.ended_keys ?? []).map(readEndedKey);
    requireLists(parameters);
    quotas.takeAll(serverId, ids.length + tokenIds.length + endedKeys.length);
    const { realmId } = await findRealm(servers, serverId, realmUuid);
    const devices = ids.map((id, index) => {
      const account = parameters.push_account_ids?.[index];
      return { id, addressee: account === undefined ? undefined : formatPushAccountId(account) };
    });
    const named = [...devices, ...tokenIds.map((tokenId) => ({ addressee: addresseeOfToken(tokenId) }))];
    if (named.length + endedKeys.length === 0) return {};
    await database.write(async ({ db }) => {
      await endKeys(db, realmId, endedKeys, clock());
      await deleteRelayDevices(db, realmId, named);
    });
    return {};
  },
});

function readEndedKey({ token_id, push_key_id }: { token_id: TokenId; push_key_id: PushKeyId }): EndedKey {
  return { tokenId: token_id, pushKeyId: push_key_id };
}

/**
 * Checks that a list is present and that parallel lists match.
 * @throws ProtocolError REQUEST_VARIABLE_MISSING if every list is missing; BAD_REQUEST if two lists differ in length.
 */
function requireLists({
  device_ids: ids,
  push_account_ids: accounts,
  token_ids: tokenIds,
}: RemoveParameters): void {
  if (ids === undefined && tokenIds === undefined) throw missingArgument('device_ids');
  const devices = ids?.length ?? 0;
  if (accounts === undefined || accounts.length === devices) return;
  throw refused(
    `push_account_ids has ${accounts.length} elements and device_ids ${devices}: send one account for each device`,
  );
}
